import BacklineDSP
import BacklineEngine

/// One of Backline's units as a node: an equalizer, a reverb, an oscillator and so on, by the name of its kind.
///
/// Its parameters go by the names that they have in presets and over OSC; `parameters` lists them with their ranges, and
/// `backline units` prints them. Units take and give two channels: one channel that comes in goes to both sides, and a
/// connection of one channel that leaves gets half the sum.
public final class UnitNode: AudioNode, @unchecked Sendable {
  private let values: StoredValues
  private let bypass = BypassState()

  /// The names of the kinds that there are.
  public static var kinds: [String] {
    UnitCatalog.standard.descriptions.filter { $0.growingInputs == nil && $0.kind != Player.description.kind }.map(
      \.kind)
  }

  /// A unit of a kind, with some parameters set.
  public init(_ kind: String, _ parameters: KeyValuePairs<String, Float> = [:]) throws(AudioError) {
    guard let description = UnitCatalog.standard[kind], Self.kinds.contains(kind) else {
      throw AudioError(.unknownKind, "there is no unit '\(kind)'; there are: \(Self.kinds.joined(separator: ", "))")
    }
    values = StoredValues(description)
    super.init()
    for (name, value) in parameters { try set(name, to: value) }
  }

  /// The name of the kind.
  public var kind: String { values.description.kind }
  /// The kind in words.
  public var title: String { values.description.title }
  /// The unit's parameters: names, ranges, units of measure, defaults.
  public var parameters: [UnitParameter] { values.description.parameters.map(UnitParameter.init) }

  public override var inputCount: Int { values.description.inputs.count }
  public override var outputCount: Int { values.description.outputs.count }
  override var kindName: String { values.description.title.lowercased() }
  override func realization(kind: String, channelCount: Int) -> NodeRealization? { .catalog(values.description) }
  override var initialValues: [(index: Int, value: Float)] { values.all }

  override func naturalFormat(isInput: Bool, bus: Int, sampleRate: Double) -> AudioFormat {
    let buses = isInput ? values.description.inputs : values.description.outputs
    return AudioFormat(sampleRate: sampleRate, channelCount: buses.indices.contains(bus) ? buses[bus].channelCount : 2)
  }

  /// Sets a parameter, which moves there over `ramp` seconds, or the 10 ms that keep it from clicking. Of a choice the number
  /// is that of the value, of a switch 0 or 1.
  public func set(_ name: String, to value: Float, ramp: Double? = nil) throws(AudioError) {
    let (index, parameter) = try values.parameter(name)
    if parameter.isReadOnly { throw AudioError(.notAllowed, "'\(name)' is measured: it cannot be set") }
    guard value.isFinite, parameter.range.contains(value) else {
      throw AudioError(
        .outOfRange,
        "\(value) is out of range for '\(name)': \(parameter.range.lowerBound) to \(parameter.range.upperBound)")
    }
    if parameter.kind != .continuous && value.rounded() != value {
      throw AudioError(.outOfRange, "'\(name)' takes whole numbers, not \(value)")
    }
    try engine?.setParameter(of: self, index, value, ramp: ramp)
    _ = values.set(name, value)
  }

  /// Sets a parameter that is a choice by the name of its value.
  public func set(_ name: String, to value: String) throws(AudioError) {
    let (_, parameter) = try values.parameter(name)
    guard case .discrete(let names) = parameter.kind, let index = names.firstIndex(of: value) else {
      throw AudioError(.outOfRange, "'\(name)' has no value '\(value)'")
    }
    try set(name, to: Float(index))
  }

  /// The present value of a parameter: what was set, or what the unit measures.
  public func value(of name: String) throws(AudioError) -> Float {
    let (index, parameter) = try values.parameter(name)
    if parameter.isReadOnly { return engine?.reading(of: self, index) ?? parameter.defaultValue }
    return values[name] ?? parameter.defaultValue
  }

  /// True lets the sound through as it is, as late as the unit would give it. Crossfades.
  public var isBypassed: Bool {
    get { bypass.isBypassed }
    set {
      bypass.isBypassed = newValue
      engine?.setBypass(of: self, newValue)
    }
  }
}

/// A parameter of a unit.
public struct UnitParameter: Sendable, Equatable {
  /// The name that it is set by.
  public let name: String
  /// What it does.
  public let summary: String
  /// The values that it takes.
  public let range: ClosedRange<Float>
  /// The value at first.
  public let defaultValue: Float
  /// The unit of measure, as it is written: `dB`, `Hz`; empty where there is none.
  public let measure: String
  /// The names of its values where it is a choice.
  public let valueNames: [String]
  /// True for what the unit measures.
  public let isReadOnly: Bool

  init(_ description: ParameterDescription) {
    name = description.name
    summary = description.summary
    range = description.range
    defaultValue = description.defaultValue
    measure = description.measure.rawValue
    isReadOnly = description.isReadOnly
    if case .discrete(let names) = description.kind { valueNames = names } else { valueNames = [] }
  }
}
