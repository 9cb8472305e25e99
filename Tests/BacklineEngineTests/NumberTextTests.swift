import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Number text")
struct NumberTextTests {
  @Test("whole numbers have no point")
  func whole() {
    #expect(NumberText.shortest(Float(-18)) == "-18")
    #expect(NumberText.shortest(Float(0.1)) == "0.1")
    #expect(NumberText.shortest(-0.0 as Float) == "0")
    #expect(NumberText.shortest(48_000.0 as Double) == "48000")
  }

  @Test("any Float reads back the same by way of a Double")
  func roundTrip() {
    var generator = SeededGenerator(7)
    for _ in 0..<100_000 {
      let value = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &generator))
      guard value.isFinite else { continue }
      #expect(NumberText.parse(NumberText.shortest(value)).map { Float($0) } == value)
    }
  }

  @Test("fixed decimals round to nearest and never show a negative zero")
  func fixed() {
    #expect(NumberText.fixed(-18, decimals: 1) == "-18.0")
    #expect(NumberText.fixed(0.25, decimals: 1) == "0.3")
    #expect(NumberText.fixed(-0.04, decimals: 1) == "0.0")
    #expect(NumberText.fixed(9.999, decimals: 2) == "10.00")
    #expect(NumberText.fixed(0.005, decimals: 4) == "0.0050")
    #expect(NumberText.fixed(1e300, decimals: 1) == "1e+300")
    #expect(NumberText.fixed(.infinity, decimals: 1) == "inf")
  }
}

@Suite("Quotation")
struct QuotationTests {
  @Test("text from outside stays on one line and short")
  func quotation() {
    #expect(quoted("amp") == "`amp`")
    #expect(quoted("a\nb") == "`a\u{FFFD}b`")
    #expect(quoted(String(repeating: "x", count: 1000)).unicodeScalars.count == 67)
  }
}
