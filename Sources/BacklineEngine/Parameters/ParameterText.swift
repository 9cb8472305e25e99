import BacklineDSP

/// Parameter values as people read and write them: `-18.0 dB`, `parametric`, `on`.
extension ParameterDescription {
  /// The value with its unit of measure, rounded for reading.
  public func text(for value: Float) -> String {
    switch kind {
    case .toggle:
      return value >= 0.5 ? "on" : "off"
    case .count:
      return NumberText.fixed(Double(value), decimals: 0)
    case .discrete(let names):
      let index = value.isFinite ? Int(min(max(value.rounded(), 0), Float(names.count - 1))) : 0
      return names.indices.contains(index) ? names[index] : ""
    case .continuous:
      return NumberText.fixed(Double(value), decimals: decimals(for: value)) + suffix
    }
  }

  /// The value that a text stands for: a number with or without its unit of measure, a choice's name or index, a switch as
  /// `on`, `off`, `true`, `false`, `1` or `0`.
  public func value(text: String) throws(EngineError) -> Float {
    let trimmed = Self.trimmed(Substring(text))
    if kind == .toggle, let isOn = Self.switches[trimmed.lowercased()] { return try resolve(.bool(isOn)) }
    if case .discrete = kind, let value = value(named: String(trimmed)) { return value }
    var digits = trimmed
    let unit = measure.rawValue
    if !unit.isEmpty, trimmed.lowercased().hasSuffix(unit.lowercased()) {
      digits = Self.trimmed(trimmed.dropLast(unit.count))
    }
    guard let number = NumberText.parse(digits) else { return try resolve(.text(text)) }
    return try resolve(.double(number))
  }

  private static let switches = ["on": true, "off": false, "true": true, "false": false]

  private var suffix: String {
    switch measure {
    case .none: return ""
    case .ratio: return measure.rawValue
    default: return " " + measure.rawValue
    }
  }

  /// As many decimals as an ear could tell apart.
  private func decimals(for value: Float) -> Int {
    switch measure {
    case .decibels, .loudness, .percent, .ratio, .degrees, .cents: return 1
    case .hertz: return value.magnitude < 10 ? 2 : value.magnitude < 100 ? 1 : 0
    case .seconds: return value.magnitude < 0.1 ? 4 : value.magnitude < 10 ? 3 : 1
    case .none, .octaves, .beats: return 2
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }
}
