import BacklineDSP
import BacklineEngine
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

/// R4 for every parameter of every unit: from one end of its range to the other and back while a tone plays, faster than its
/// ramp, too.
@Suite("Parameters swept to their ends")
struct ParameterSweepTests {
  /// Those whose sound is made of steps.
  private static let stepped: Set = ["bitCrusher"]
  static let kinds = UnitCatalog.standard.descriptions.filter(isHeard).map(\.kind)
  private static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"
  private static let rate = 48_000
  private static let frames = 24_000

  private static func isHeard(_ description: UnitDescription) -> Bool {
    !description.inputs.isEmpty && !description.outputs.isEmpty && !stepped.contains(description.kind)
  }

  /// A unit with the values of all others than the parameter that is swept.
  private struct Setting {
    let description: UnitDescription
    let values: [String: Float]

    /// What a soft tone becomes with some parameters elsewhere; what begins is left out.
    func output(_ parameters: [String: Float] = [:], _ events: [UnitHarness.Event] = []) -> [[Float]] {
      let tone = Signals.sine(110, frames: frames, amplitude: 0.2, sampleRate: Double(rate))
      let inputs = description.inputs.map { [[Float]](repeating: tone, count: $0.channelCount) }
      return UnitHarness(
        description, sampleRate: Double(rate), parameters: values.merging(parameters) { $1 }
      ).render(inputs, cuts: [480], events: events).flatMap { $0.map { Array($0[9600...]) } }
    }

    /// The largest step while `parameter` is swept, as a part of what is allowed, and in words.
    func sweep(_ parameter: ParameterDescription, usual: [[Float]]) -> (ratio: Float, text: String) {
      let low = parameter.range.lowerBound, high = parameter.range.upperBound
      // Three times slowly, then three times before the ramp has come to its end.
      let places = [10_000, 12_001, 14_002, 16_003, 16_100, 16_345, 19_001]
      let swept = output([:], places.enumerated().map { .init($1, parameter.name, $0 % 2 == 0 ? low : high) })
      if !swept.allSatisfy({ Signals.isFinite($0) }) { return (.infinity, "\(parameter.name) is not finite") }
      let still = [usual] + [0, 0.25, 0.5, 0.75, 1].map { output([parameter.name: parameter.denormalized($0)]) }
      let own = still.map { step($0) }.max() ?? 0, loudest = still.map { peak($0) }.max() ?? 0
      // Two sounds that change places within 10 ms, by a curve twice as steep as a straight one. What is louder on the way
      // than at any of these places has longer steps in proportion.
      let swell = max(1, peak(swept) / max(loudest, 1e-9))
      let allowed = swell * (1.5 * own + 4 * loudest / Float(rate / 100)) + 1e-5
      return (
        step(swept) / allowed,
        "\(description.kind) \(parameter.name): \(step(swept)) beside \(own), peak \(peak(swept)) beside \(loudest)"
      )
    }

    private func step(_ output: [[Float]]) -> Float { output.map { Signals.largestStep($0) }.max() ?? 0 }
    private func peak(_ output: [[Float]]) -> Float { output.map { Signals.peak($0) }.max() ?? 0 }
  }

  @Test("no parameter makes a step that the sound does not make itself somewhere on the way", arguments: kinds)
  func units(kind: String) throws {
    let setting = Setting(description: try #require(UnitCatalog.standard[kind]), values: [:])
    let usual = setting.output()
    var worst: Float = 0
    for parameter in setting.description.parameters where !parameter.isReadOnly {
      let (ratio, text) = setting.sweep(parameter, usual: usual)
      worst = max(worst, ratio)
      #expect(ratio < 1, "\(text)")
    }
    print("measured: \(kind) swept makes at most \(Measured.text(Double(worst), 2)) of the step that is allowed")
  }

  @Test("nor does it in the settings of the presets", arguments: ShippedPresetsTests.names)
  func presets(name: String) throws {
    let preset = try PresetFile.load("\(ShippedPresetsTests.folder)/\(name).json", catalog: .standard)
    let nodes = preset.graph(catalog: .standard).nodes
    var count = 0
    for node in nodes {
      let description = try #require(UnitCatalog.standard[node.kind])
      if !Self.isHeard(description) || description.growingInputs != nil { continue }
      let values = zip(description.parameters, node.values).map { ($0.name, $1) }
      let setting = Setting(
        description: description, values: Dictionary(values, uniquingKeysWith: { $1 }))
      var usual: [[Float]]?
      for parameter in description.parameters where !parameter.isReadOnly {
        count += 1
        // A sample of them; all where there is time.
        if !Self.isLong && count % 5 != 0 { continue }
        let before = usual ?? setting.output()
        usual = before
        let (ratio, text) = setting.sweep(parameter, usual: before)
        #expect(ratio < 1, "\(node.name): \(text)")
      }
    }
  }
}
