import BacklineDSP

/// Numbers and values of parameters for people.
enum ValueText {
  /// The shortest digits that read back the same number, without `.0` at the end.
  static func number(_ value: Float) -> String { shortened(value.description) }
  static func number(_ value: Double) -> String { shortened(value.description) }

  /// A number with so many digits after the point.
  static func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return number(value) }
    let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    if decimals == 0 { return sign + String(scaled) }
    let digits = String(scaled % scale)
    return sign + "\(scaled / scale)." + String(repeating: "0", count: decimals - digits.count) + digits
  }

  /// A value of a parameter with its unit or its name: `-18 dB`, `lowPass`, `on`.
  static func value(_ value: Float, of parameter: ParameterDescription) -> String {
    switch parameter.kind {
    case .toggle: return value != 0 ? "on" : "off"
    case .discrete(let names):
      guard value >= 0, value < Float(names.count) else { return number(value) }
      return names[Int(value)]
    case .continuous, .count: return number(value) + unit(parameter)
    }
  }

  /// The range of a parameter: `-96 to 24 dB`, `one of sine, square`, `on or off`.
  static func range(of parameter: ParameterDescription) -> String {
    switch parameter.kind {
    case .toggle: "on or off"
    case .discrete(let names): "one of \(names.joined(separator: ", "))"
    case .continuous:
      "\(number(parameter.range.lowerBound)) to \(number(parameter.range.upperBound))\(unit(parameter))"
    case .count:
      "a whole number from \(number(parameter.range.lowerBound)) to \(number(parameter.range.upperBound))"
        + unit(parameter)
    }
  }

  private static func unit(_ parameter: ParameterDescription) -> String {
    switch parameter.measure {
    case .none: ""
    case .ratio: ":1"
    default: " " + parameter.measure.rawValue
    }
  }

  private static func shortened(_ text: String) -> String {
    text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
