/// A synth definition for scsynth, written as its compiled form, so that the bench needs no language to compile it.
///
/// The format is version 2 of SuperCollider's "Synth Definition File Format" (its help file of that name).
struct SynthDefinition {
  enum Rate: UInt8 { case scalar, control, audio }

  /// Where a unit takes a value from.
  enum Input {
    case constant(Float)
    case unit(Int, output: Int = 0)
  }

  struct Unit {
    let kind: String
    let rate: Rate
    let inputs: [Input]
    var outputCount = 1
    /// Which operator; of others 0.
    var special: UInt16 = 0
  }

  let name: String
  /// Controls with their defaults; they are unit 0.
  let controls: [(name: String, value: Float)]
  let units: [Unit]

  // MARK: The definitions of the workloads

  static let all = [source, series, parallel, mix]

  /// White noise of ±0.05 on both sides.
  private static let source = SynthDefinition(
    name: "source", controls: [("bus", 16)],
    units: [
      Unit(kind: "WhiteNoise", rate: .audio, inputs: []),
      Unit(kind: "BinaryOpUGen", rate: .audio, inputs: [.unit(1), .constant(0.05)], special: multiply),
      Unit(kind: "Out", rate: .audio, inputs: [.unit(0), .unit(2), .unit(2)], outputCount: 0),
    ])

  /// A stereo biquad in place on a bus.
  private static let series = SynthDefinition(
    name: "series", controls: [("bus", 16), ("freq", 1000), ("rq", 1), ("db", 1)],
    units: [
      Unit(kind: "In", rate: .audio, inputs: [.unit(0)], outputCount: 2), filter(output: 0), filter(output: 1),
      Unit(kind: "ReplaceOut", rate: .audio, inputs: [.unit(0), .unit(2), .unit(3)], outputCount: 0),
    ])

  /// A stereo biquad from one bus, added to another.
  private static let parallel = SynthDefinition(
    name: "parallel", controls: [("in", 16), ("freq", 1000), ("rq", 1), ("db", 1), ("out", 18), ("amp", 0.01)],
    units: [
      Unit(kind: "In", rate: .audio, inputs: [.unit(0)], outputCount: 2), filter(output: 0),
      Unit(kind: "BinaryOpUGen", rate: .audio, inputs: [.unit(2), .unit(0, output: 5)], special: multiply),
      filter(output: 1),
      Unit(kind: "BinaryOpUGen", rate: .audio, inputs: [.unit(4), .unit(0, output: 5)], special: multiply),
      Unit(kind: "Out", rate: .audio, inputs: [.unit(0, output: 4), .unit(3), .unit(5)], outputCount: 0),
    ])

  private static let mix = SynthDefinition(
    name: "mix", controls: [("in", 18), ("out", 0)],
    units: [
      Unit(kind: "In", rate: .audio, inputs: [.unit(0)], outputCount: 2),
      Unit(kind: "Out", rate: .audio, inputs: [.unit(0, output: 1), .unit(1), .unit(1, output: 1)], outputCount: 0),
    ])

  /// The operator's number.
  private static let multiply: UInt16 = 2

  /// One channel of the biquad: `In` is unit 1, frequency, 1/Q and gain are the controls 1 to 3.
  private static func filter(output: Int) -> Unit {
    Unit(
      kind: "BPeakEQ", rate: .audio,
      inputs: [.unit(1, output: output), .unit(0, output: 1), .unit(0, output: 2), .unit(0, output: 3)])
  }

  // MARK: The file

  /// A file with these definitions.
  static func file(_ definitions: [SynthDefinition]) -> [UInt8] {
    var bytes = Array("SCgf".utf8)
    append(UInt32(2), to: &bytes)
    append(UInt16(definitions.count), to: &bytes)
    for definition in definitions { definition.write(to: &bytes) }
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    var constants: [Float] = []
    for case .constant(let value) in units.flatMap(\.inputs) where !constants.contains(value) {
      constants.append(value)
    }
    Self.append(name, to: &bytes)
    Self.append(UInt32(constants.count), to: &bytes)
    for value in constants { Self.append(value.bitPattern, to: &bytes) }
    Self.append(UInt32(controls.count), to: &bytes)
    for control in controls { Self.append(control.value.bitPattern, to: &bytes) }
    Self.append(UInt32(controls.count), to: &bytes)
    for (index, control) in controls.enumerated() {
      Self.append(control.name, to: &bytes)
      Self.append(UInt32(index), to: &bytes)
    }
    let all = [Unit(kind: "Control", rate: .control, inputs: [], outputCount: controls.count)] + units
    Self.append(UInt32(all.count), to: &bytes)
    for unit in all { Self.write(unit, constants, to: &bytes) }
    Self.append(UInt16(0), to: &bytes)  // no variants
  }

  private static func write(_ unit: Unit, _ constants: [Float], to bytes: inout [UInt8]) {
    append(unit.kind, to: &bytes)
    bytes.append(unit.rate.rawValue)
    append(UInt32(unit.inputs.count), to: &bytes)
    append(UInt32(unit.outputCount), to: &bytes)
    append(unit.special, to: &bytes)
    for input in unit.inputs {
      switch input {
      case .constant(let value):
        append(UInt32.max, to: &bytes)
        append(UInt32(constants.firstIndex(of: value) ?? 0), to: &bytes)
      case .unit(let index, let output):
        append(UInt32(index), to: &bytes)
        append(UInt32(output), to: &bytes)
      }
    }
    for _ in 0..<unit.outputCount { bytes.append(unit.rate.rawValue) }
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
  }

  /// A string with its length before it.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(text.utf8.count))
    bytes += text.utf8
  }
}
