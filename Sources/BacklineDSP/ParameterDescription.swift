/// What a parameter is: declared once by its unit, used alike by Swift, JSON, OSC and `backline units`.
public struct ParameterDescription: Sendable, Equatable {
  /// The kinds of value.
  public enum Kind: Sendable, Equatable {
    /// Any number in the range; moves smoothly.
    case continuous
    /// A whole number in the range.
    case count
    /// One of named values; the number is the name's index.
    case discrete([String])
    /// Off (0) or on (1).
    case toggle
  }

  /// The units of measure.
  public enum Measure: String, Sendable {
    case none = "", decibels = "dB", hertz = "Hz", seconds = "s", percent = "%", ratio = ":1", loudness = "LUFS"
    case cents, degrees, octaves, beats
  }

  /// How a fader's travel from 0 to 1 maps to the range.
  public enum Taper: String, Sendable {
    case linear
    /// Equal ratios for equal travel; the minimum must be above 0.
    case logarithmic
    /// Fine at the low end: the value goes with the square of the travel.
    case quadratic
  }

  /// The name, lowerCamelCase: Swift property, JSON key and last part of the OSC address alike.
  public let name: String
  /// What it does, one sentence in a player's words.
  public let summary: String
  public let kind: Kind
  public let measure: Measure
  public let range: ClosedRange<Float>
  public let defaultValue: Float
  public let taper: Taper
  /// True for what a unit measures and nobody sets (levels, gain reduction).
  public let isReadOnly: Bool
  /// True when a change may change the unit's latency, so that the plan has to be compiled again.
  public let affectsLatency: Bool

  /// A continuous parameter.
  public init(
    _ name: String, _ summary: String, _ range: ClosedRange<Float>, default defaultValue: Float,
    measure: Measure = .none, taper: Taper = .linear, affectsLatency: Bool = false
  ) {
    self.init(
      name: name, summary: summary, kind: .continuous, measure: measure, range: range, defaultValue: defaultValue,
      taper: taper, isReadOnly: false, affectsLatency: affectsLatency)
  }

  /// A parameter of whole numbers.
  public static func count(
    _ name: String, _ summary: String, _ range: ClosedRange<Int>, default defaultValue: Int
  ) -> ParameterDescription {
    ParameterDescription(
      name: name, summary: summary, kind: .count, measure: .none,
      range: Float(range.lowerBound)...Float(range.upperBound), defaultValue: Float(defaultValue), taper: .linear,
      isReadOnly: false, affectsLatency: false)
  }

  /// A choice among named values.
  public static func discrete(
    _ name: String, _ summary: String, _ values: [String], default defaultValue: Int = 0
  ) -> ParameterDescription {
    ParameterDescription(
      name: name, summary: summary, kind: .discrete(values), measure: .none,
      range: 0...Float(values.count - 1), defaultValue: Float(defaultValue), taper: .linear, isReadOnly: false,
      affectsLatency: false)
  }

  /// A switch.
  public static func toggle(_ name: String, _ summary: String, default defaultValue: Bool) -> ParameterDescription {
    ParameterDescription(
      name: name, summary: summary, kind: .toggle, measure: .none, range: 0...1, defaultValue: defaultValue ? 1 : 0,
      taper: .linear, isReadOnly: false, affectsLatency: false)
  }

  /// A value that the unit measures.
  public static func reading(
    _ name: String, _ summary: String, _ range: ClosedRange<Float>, default defaultValue: Float, measure: Measure
  ) -> ParameterDescription {
    ParameterDescription(
      name: name, summary: summary, kind: .continuous, measure: measure, range: range, defaultValue: defaultValue,
      taper: .linear, isReadOnly: true, affectsLatency: false)
  }

  init(
    name: String, summary: String, kind: Kind, measure: Measure, range: ClosedRange<Float>, defaultValue: Float,
    taper: Taper, isReadOnly: Bool, affectsLatency: Bool
  ) {
    self.name = name
    self.summary = summary
    self.kind = kind
    self.measure = measure
    self.range = range
    self.defaultValue = defaultValue
    self.taper = taper
    self.isReadOnly = isReadOnly
    self.affectsLatency = affectsLatency
  }

  /// The same parameter under another name, for numbered parts (`band1Gain`, `input0Volume`).
  public func renamed(_ name: String, default value: Float? = nil) -> ParameterDescription {
    ParameterDescription(
      name: name, summary: summary, kind: kind, measure: measure, range: range,
      defaultValue: value ?? defaultValue, taper: taper, isReadOnly: isReadOnly, affectsLatency: affectsLatency)
  }

  /// True where a set moves at once instead of along a ramp of values.
  public var isStepped: Bool { kind != .continuous }
}
