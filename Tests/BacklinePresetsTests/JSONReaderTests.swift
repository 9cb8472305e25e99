import BacklinePresets
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
  private func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

  private func refusal(_ bytes: [UInt8], limits: JSONReader.Limits = .init()) -> JSONError? {
    do {
      _ = try JSONReader.read(bytes, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test("every kind of value is read")
  func values() throws {
    let value = try read(#" {"a": [1, -2.5e-1, true, false, null], "b": {"c": "x"}, "d": [], "e": {}} "#)
    #expect(value["a"]?.array?.map(\.number) == [1, -0.25, nil, nil, nil])
    #expect(value["a"]?.array?.map(\.bool) == [nil, nil, true, false, nil])
    #expect(value["a"]?.array?.last?.content == .null)
    #expect(value["b"]?["c"]?.string == "x")
    #expect(value["d"]?.array == [])
    #expect(value["e"]?.object == [])
    #expect(try read("0").number == 0)
    #expect(try read("-0").number == 0)
  }

  @Test("numbers are the nearest Double")
  func numbers() throws {
    #expect(try read("0.1").number == 0.1)
    #expect(try read("1e-400").number == 0)
    #expect(try read("9007199254740993").number == 9_007_199_254_740_992)
    #expect(try read("12").integer == 12)
    #expect(try read("12.5").integer == nil)
    #expect(try read("1e300").integer == nil)
  }

  @Test("escapes and every script are read")
  func strings() throws {
    #expect(try read(#""\"\\\/\b\f\n\r\tAé😀""#).string == "\"\\/\u{8}\u{C}\n\r\tAé😀")
    #expect(try read(#""\u0041\u00e9\ud83d\uDE00""#).string == "Aé😀")
    #expect(try read("\"録音 🎸\"").string == "録音 🎸")
  }

  @Test("places count lines by newlines and columns by scalars")
  func places() throws {
    let value = try read("{\"ä😀\": 1,\r\n\t\"b\": [\n  true, 2]}")
    let members = try #require(value.object)
    #expect(members[0].place == JSONPlace(line: 1, column: 2))
    #expect(members[0].value.place == JSONPlace(line: 1, column: 8))
    #expect(members[1].place == JSONPlace(line: 2, column: 2))
    #expect(members[1].value.array?[1].place == JSONPlace(line: 3, column: 9))
    #expect(try JSONReader.read(Array("1".utf8), firstLine: 12).place == JSONPlace(line: 12, column: 1))
  }

  @Test(
    "what is not JSON is refused where it goes wrong",
    arguments: [
      ("", 1, 1, "$"), ("\n  ", 2, 3, "$"), ("{", 1, 2, "$"), ("[1,]", 1, 3, "$"), ("[1,\n]", 1, 3, "$"),
      ("{\"a\": 1,}", 1, 8, "$"), ("{\"a\" 1}", 1, 6, "a"), ("{a: 1}", 1, 2, "$"), ("[1 2]", 1, 4, "$"),
      ("01", 1, 2, "$"), ("[1.]", 1, 4, "$[0]"), ("[-]", 1, 3, "$[0]"), ("+1", 1, 1, "$"), (".5", 1, 1, "$"),
      ("1e", 1, 3, "$"), ("1e999", 1, 1, "$"), ("nul", 1, 1, "$"), ("nulls", 1, 1, "$"), ("NaN", 1, 1, "$"),
      ("'a'", 1, 1, "$"), ("// x\n1", 1, 1, "$"), ("1 1", 1, 3, "$"), ("\"a", 1, 3, "$"), ("\"a\nb\"", 1, 3, "$"),
      ("\"\\x\"", 1, 3, "$"), ("\"\\u12g4\"", 1, 6, "$"), ("\"\\ud800\"", 1, 8, "$"), ("\"\\udc00\"", 1, 8, "$"),
      ("\"\\ud800\\u0041\"", 1, 14, "$"), ("{\"a\": {\"b\": [1, x]}}", 1, 17, "a.b[1]"),
      ("{\"a b\": [x]}", 1, 10, "$[\"a b\"][0]"), ("\u{FEFF}1", 1, 1, "$"), ("\u{0}", 1, 1, "$"), ("1\u{0}", 1, 2, "$"),
    ])
  func refusals(text: String, line: Int, column: Int, keyPath: String) throws {
    let error = try #require(refusal(Array(text.utf8)), "\(text)")
    #expect([error.line, error.column] == [line, column], "\(text): \(error.message)")
    #expect(error.keyPath == keyPath, "\(text)")
    #expect(!error.message.isEmpty)
  }

  @Test("a key twice is refused at the second")
  func duplicates() throws {
    let error = try #require(refusal(Array("{\"a\": 1, \"b\": 2,\n \"a\": 3}".utf8)))
    #expect([error.line, error.column] == [2, 2])
    #expect(error.keyPath == "a")
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [
      [0xFF], [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(refusal([0x22] + bytes + [0x22])?.column == 2)
    #expect(refusal([0x22] + bytes)?.column == 2)
    #expect(refusal(bytes) != nil)
  }

  @Test("byte order marks get a message of their own")
  func byteOrderMarks() {
    #expect(refusal([0xEF, 0xBB, 0xBF, 0x31])?.message.contains("byte order mark") == true)
    #expect(refusal([0xFF, 0xFE, 0x31, 0])?.message.contains("UTF-16") == true)
  }

  @Test("depth, size and count are limited")
  func limits() {
    let nested = { (depth: Int) in [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth) }
    #expect(refusal(nested(64)) == nil)
    #expect(refusal(nested(65))?.column == 65)
    #expect(refusal(nested(100_000)) != nil)
    var limits = JSONReader.Limits()
    limits.size = 4
    #expect(refusal(Array("1234".utf8), limits: limits) == nil)
    #expect(refusal(Array("12345".utf8), limits: limits) != nil)
    limits = JSONReader.Limits()
    limits.values = 3
    #expect(refusal(Array("[1,2]".utf8), limits: limits) == nil)
    #expect(refusal(Array("[1,2,3]".utf8), limits: limits) != nil)
    #expect(refusal([UInt8](repeating: 0x31, count: 300)) == nil)
    #expect(refusal([UInt8](repeating: 0x31, count: 5000)) != nil)
  }
}
