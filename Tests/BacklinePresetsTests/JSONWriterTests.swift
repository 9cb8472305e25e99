import BacklinePresets
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
  @Test("numbers are as short as they can be")
  func numbers() {
    let values: JSONOutput = [
      .float(-18), .float(0.1), .double(0.1), .integer(.min), .float(.nan), .double(.infinity), 3, 2.5,
    ]
    #expect(
      JSONWriter.write(values, style: .compact) == "[-18,0.1,0.1,-9223372036854775808,null,null,3,2.5]")
  }

  @Test("objects keep their order, compact and pretty")
  func order() {
    let value: JSONOutput = ["b": 1, "a": ["x": true, "list": [1, 2]], "empty": [:], "none": nil]
    #expect(
      JSONWriter.write(value, style: .compact) == #"{"b":1,"a":{"x":true,"list":[1,2]},"empty":{},"none":null}"#)
    #expect(
      JSONWriter.write(value) == """
        {
          "b": 1,
          "a": { "x": true, "list": [1, 2] },
          "empty": {},
          "none": null
        }

        """)
    #expect(JSONWriter.write(["from": "a", "to": "b"]) == "{ \"from\": \"a\", \"to\": \"b\" }\n")
  }

  @Test("what does not fit a line is broken up")
  func width() {
    let list = JSONOutput.array((0..<40).map { .integer(Int64(100 + $0)) })
    #expect(JSONWriter.write(list).split(separator: "\n").count == 42)
  }

  @Test("strings are escaped and read back the same")
  func strings() throws {
    let text = "\"\\/\u{0}\u{1F}\u{7F}\n\r\t é 😀 \u{2028}"
    let written = JSONWriter.write(.string(text), style: .compact)
    #expect(try JSONReader.read(Array(written.utf8)).string == text)
    #expect(!written.utf8.contains { $0 < 0x20 || $0 == 0x7F })
  }
}
