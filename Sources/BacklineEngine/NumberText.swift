/// Numbers as text and back, the same in every language: a point, never a comma, whatever the locale says.
public enum NumberText {
  /// The shortest text that reads back as the same `Float`, also by way of a `Double`; whole numbers without a point.
  public static func shortest(_ value: Float) -> String {
    // Why: a text a hair's breadth from the middle of two Floats can be rounded onto that middle as a Double.
    let text = trimmed(value.description)
    if let double = Double(text), Float(double) != value, value.isFinite { return shortest(Double(value)) }
    return text
  }

  /// The shortest text that reads back as the same `Double`; whole numbers without a point.
  public static func shortest(_ value: Double) -> String { trimmed(value.description) }

  /// A number with a fixed count of decimals, rounded to nearest, halves away from zero.
  public static func fixed(_ value: Double, decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard scaled < 9e15 else { return shortest(value) }  // also not a number
    let digits = String(Int64(scaled))
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.utf8.count)) + digits
    let sign = value < 0 && scaled > 0 ? "-" : ""
    return decimals == 0 ? sign + padded : sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
  }

  /// The number that a decimal text stands for; `nil` for anything else, be it `nan`, `0x10` or ` 1`.
  public static func parse(_ text: some StringProtocol) -> Double? {
    let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
    guard isDecimal, text.utf8.count <= 1024, let value = Double(text), value.isFinite else { return nil }
    return value
  }

  private static func trimmed(_ text: String) -> String {
    guard text.hasSuffix(".0") else { return text }
    return text == "-0.0" ? "0" : String(text.dropLast(2))
  }
}
