import BacklineDSP
import BacklineTestSupport
import CBackline

/// The rules that every unit has to keep, as functions of a description.
enum UnitChecks {
  static let cuts = [[1], [7], [64], [333], [8192], [5, 1, 90, 31, 32, 33, 257, 2, 700]]

  /// Two channels of noise for each input bus.
  static func noise(for description: UnitDescription, frames: Int, amplitude: Float = 0.5) -> [[[Float]]] {
    description.inputs.indices.map { bus in
      (0..<2).map { Signals.noise(frames: frames, amplitude: amplitude, seed: UInt64(2 * bus + $0 + 1)) }
    }
  }

  /// Silence for each input bus.
  static func silence(for description: UnitDescription, frames: Int) -> [[[Float]]] {
    description.inputs.map { _ in [[Float]](repeating: [Float](repeating: 0, count: frames), count: 2) }
  }

  /// Three rounds of sets at odd frames for every parameter: within the range, ramps of all lengths, some on top of others.
  static func events(for description: UnitDescription, frames: Int) -> [UnitHarness.Event] {
    var generator = SeededGenerator(7)
    var events: [UnitHarness.Event] = []
    for round in 0..<3 {
      for parameter in description.parameters where !parameter.isReadOnly {
        var value = Float.random(in: parameter.range, using: &generator)
        if parameter.isStepped { value = (value + 0.5).rounded(.down) }
        let ramp: Int32? = [nil, 0, 1777][round]
        events.append(.init(Int.random(in: 0..<frames, using: &generator) | 1, parameter.name, value, ramp: ramp))
      }
    }
    return events
  }

  /// The least and the greatest value of every parameter.
  static func extremes(of description: UnitDescription) -> [[String: Float]] {
    let settable = description.parameters.filter { !$0.isReadOnly }
    let lowest = settable.map { ($0.name, $0.range.lowerBound) }
    let highest = settable.map { ($0.name, $0.range.upperBound) }
    var combinations = [lowest, highest]
    for index in settable.indices {
      combinations.append(lowest.enumerated().map { $0 == index ? highest[$0] : $1 })
      combinations.append(highest.enumerated().map { $0 == index ? lowest[$0] : $1 })
    }
    return combinations.map { Dictionary(uniqueKeysWithValues: $0) }
  }

  /// How long the unit says it goes on for.
  static func tail(_ harness: UnitHarness) -> Int64 { harness.instance.functions.tail(harness.instance.state) }
}
