import BacklineOSC
import Testing

@Suite("OSC patterns")
struct OSCPatternTests {
  static let cases: [(String, [String], [String])] = [
    ("/n/*/gain", ["/n/1/gain", "/n/12/gain", "/n//gain"], ["/n/1/gainL", "/n/1/sub/gain", "/n/gain", "/n/1/gai"]),
    ("/n/1/*", ["/n/1/gain", "/n/1/gainL", "/n/1/"], ["/n/12/gain", "/n/1/sub/gain", "/n/1"]),
    ("/n/?/gain", ["/n/1/gain", "/n/é/gain", "/n/🎸/gain"], ["/n/12/gain", "/n//gain", "/n///gain"]),
    ("/a", ["/a"], ["/a/", "/ab", "/A", ""]),
    ("/*", ["/a", "/", "/abc"], ["/a/b", "//"]),
    ("/*/*", ["/a/b", "//"], ["/a", "/a/b/c"]),
    ("/[a-c]x", ["/ax", "/bx", "/cx"], ["/dx", "/x", "/-x", "/abx"]),
    ("/[!a-c]x", ["/dx", "/éx", "/!x"], ["/ax", "/x", "//x"]),
    ("/[a!]", ["/a", "/!"], ["/b"]),
    ("/[-a]", ["/-", "/a"], ["/b"]),
    ("/[a-]", ["/-", "/a"], ["/b"]),
    ("/[é-ü]", ["/é", "/ö"], ["/e", "/郵"]),
    ("/{gain,gainL,pan}", ["/gain", "/gainL", "/pan"], ["/gainLL", "/pa", "/gain,gainL", "/"]),
    ("/band{1,2,10}Gain", ["/band1Gain", "/band10Gain"], ["/bandGain", "/band12Gain", "/band3Gain"]),
    ("/x{,y}z", ["/xz", "/xyz"], ["/xyyz", "/x"]),
    ("/*a*b?{c,d}[e-g]", ["/abxce", "/zazbxdg", "/aabbbxcf"], ["/abce", "/abxch", "/a/bxce"]),
    ("/**", ["/", "/abc"], ["/a/b"]),
  ]

  @Test("a pattern matches whole addresses, and never across a slash", arguments: cases)
  func matching(_ pattern: String, _ hits: [String], _ misses: [String]) throws {
    let pattern = try OSCPattern(pattern)
    for address in hits { #expect(pattern.matches(address), "\(pattern.text) has to match \(address)") }
    for address in misses { #expect(!pattern.matches(address), "\(pattern.text) must not match \(address)") }
  }

  @Test(
    "a pattern that means nothing is refused, saying why",
    arguments: [
      ("", .noLeadingSlash), ("a*", .noLeadingSlash), ("/[a", .unclosedBracket), ("/{a,b", .unclosedBrace),
      ("/[]", .emptySet), ("/[!]", .emptySet), ("/[z-a]", .backwardRange), ("/{a/b,c}", .slashInside),
      ("/[/]", .slashInside), ("/a]", .strayCloser), ("/a}", .strayCloser),
      ("/" + String(repeating: "a", count: 1024), .tooLong(limit: 1024)),
    ] as [(String, OSCPatternError)])
  func refused(_ text: String, _ reason: OSCPatternError) {
    #expect(throws: reason) { try OSCPattern(text) }
    #expect(!reason.description.isEmpty)
  }

  @Test("patterns made to make matchers backtrack end all the same")
  func bounded() throws {
    let address = "/" + String(repeating: "a", count: 1000) + "b"
    #expect(try !OSCPattern("/" + String(repeating: "*a", count: 400) + "c").matches(address))
    #expect(try OSCPattern("/" + String(repeating: "*", count: 1000) + "b").matches(address))
    #expect(try !OSCPattern("/" + String(repeating: "{a,aa,}", count: 140) + "c").matches(address))
  }

  @Test("literal addresses are told from patterns")
  func literal() throws {
    #expect(try OSCPattern("/a/b-c!").isLiteral)
    #expect(try !OSCPattern("/a/{b}").isLiteral)
    for text in ["/a*", "/?", "/[a]", "/{a}"] {
      #expect(Array(text.utf8).withUnsafeBufferPointer { OSCPattern.isPattern($0) })
    }
    #expect(!Array("/a,b-c!é".utf8).withUnsafeBufferPointer { OSCPattern.isPattern($0) })
  }
}
