import BacklineDSP
import BacklineRealtime
import CBackline

/// What every unit has to hold (`ProcessingUnit`), as checks that return what they found wrong, in words.
///
/// They know nothing of any unit but its description: buses of any number, growing inputs, parameters of all kinds.
public struct UnitContract: Sendable {
  public let description: UnitDescription
  public let sampleRate: Double

  public init(_ description: UnitDescription, sampleRate: Double) {
    self.description = description
    self.sampleRate = sampleRate
  }

  /// Names, ranges and defaults fit each other.
  public func wellFormed() -> [String] {
    let all = description.parameters + description.inputParameters
    var wrong: [String] = []
    if Set(all.map(\.name)).count != all.count { wrong.append("two parameters have one name") }
    for parameter in all {
      if !parameter.range.contains(parameter.defaultValue) { wrong.append("\(parameter.name): default out of range") }
      if parameter.taper == .logarithmic && parameter.range.lowerBound <= 0 {
        wrong.append("\(parameter.name): logarithmic from 0 or below")
      }
      if parameter.summary.isEmpty { wrong.append("\(parameter.name): no summary") }
    }
    for bus in description.inputs + description.outputs where !(1...32).contains(bus.channelCount) {
      wrong.append("\(bus.name): \(bus.channelCount) channels")
    }
    return wrong
  }

  /// The same bits however a signal is cut, with parameters set at odd frames.
  public func cutInvariance() -> [String] {
    let plan = events(seed: 7)
    var random = SeededGenerator(3)
    let lengths = (0..<100).map { _ in Int.random(in: 1...500, using: &random) }
    var wrong: [String] = []
    for withOptional in description.inputs.contains(where: \.isOptional) ? [true, false] : [true] {
      let signals = description.noise(frames: 8192, withOptional: withOptional)
      let expected = unit().render(signals, frames: 8192, cuts: [64], events: plan)
      for cuts in [[1], [7], [333], [8192], lengths] {
        let found = unit().render(signals, frames: 8192, cuts: cuts, events: plan)
        if let difference = firstDifference(expected, found) {
          wrong.append("cut into \(cuts.count == 1 ? "\(cuts[0])" : "random lengths"): \(difference)")
        }
      }
    }
    return wrong
  }

  /// The same bits whether silent input is announced or not.
  public func silenceAnnouncement() -> [String] {
    let plan = events(seed: 11)
    let signals = description.noise(frames: 8192)
    let announced = unit()
    announced.announcesSilence = true
    let difference = firstDifference(
      unit().render(signals, frames: 8192, cuts: [64], events: plan),
      announced.render(signals, frames: 8192, cuts: [64], events: plan))
    return difference.map { ["announced silence: \($0)"] } ?? []
  }

  /// After `reset` a unit renders as one that was made with the parameters it has.
  public func resetEqualsFresh() -> [String] {
    let plan = events(seed: 5)
    let signals = description.noise(frames: 4096)
    let used = unit()
    _ = used.render(signals, frames: 8192, cuts: [100], events: plan)
    used.reset()
    var last: [String: Float] = [:]
    for event in plan { last[event.parameter] = event.value }
    let fresh = UnitHarness(description, sampleRate: sampleRate, parameters: last, startFrame: 8192)
    let difference = firstDifference(
      fresh.render(signals, frames: 4096, cuts: [64]), used.render(signals, frames: 4096, cuts: [64]))
    return difference.map { ["after reset: \($0)"] } ?? []
  }

  /// A new instance has all parameters at their defaults: an engine sets only what differs.
  public func freshHasDefaults() -> [String] {
    let signals = description.noise(frames: 4096)
    let defaults = Dictionary(settable.map { ($0.name, $0.parameter.defaultValue) }, uniquingKeysWith: { $1 })
    let set = UnitHarness(description, sampleRate: sampleRate, parameters: defaults)
    let untouched = UnitHarness(description, sampleRate: sampleRate, setsDefaults: false)
    let plan = events(seed: 13).map { event in
      var event = event
      event.frame += 2000
      return event
    }
    let difference = firstDifference(
      set.render(signals, frames: 4096, cuts: [64], events: plan),
      untouched.render(signals, frames: 4096, cuts: [64], events: plan))
    var wrong = difference.map { ["a fresh instance: \($0)"] } ?? []
    if set.tail() != untouched.tail() { wrong.append("another tail") }
    return wrong
  }

  /// Every parameter at either end of its range, alone, with all others there, and with all others at the other end, gives
  /// finite sound.
  public func extremes() -> [String] {
    let signals = description.noise(frames: 512, amplitude: 1)
    let lowest = Dictionary(settable.map { ($0.name, $0.parameter.range.lowerBound) }, uniquingKeysWith: { $1 })
    let highest = Dictionary(settable.map { ($0.name, $0.parameter.range.upperBound) }, uniquingKeysWith: { $1 })
    var cases = [lowest, highest]
    for (name, parameter) in settable {
      let low = [name: parameter.range.lowerBound], high = [name: parameter.range.upperBound]
      cases += [low, high, lowest.merging(high) { $1 }, highest.merging(low) { $1 }]
    }
    return cases.flatMap { parameters in
      let output = UnitHarness(description, sampleRate: sampleRate, parameters: parameters).render(signals, frames: 512)
      return isFinite(output) ? [] : ["not finite with \(parameters.count > 2 ? "all at an end" : "\(parameters)")"]
    }
  }

  /// Silence stays silence: from the start, and again after sound, tail and `reset`. The tail ends below -120 dB.
  public func silence() -> [String] {
    if description.inputs.isEmpty { return [] }
    let silent = description.silence(frames: 1024)
    var wrong: [String] = []
    let unit = unit()
    if peak(unit.render(silent)) != 0 { wrong.append("sound out of silence") }
    _ = unit.render(description.noise(frames: 1024))
    let tail = unit.tail()
    if tail < 0 { wrong.append("a negative tail") }
    if tail <= Int64(4 * sampleRate) {
      _ = unit.render(silent, frames: max(1, Int(tail)))
      let left = peak(unit.render(silent))
      if left > 1e-6 { wrong.append("\(left) after the tail") }
    }
    unit.reset()
    if peak(unit.render(silent)) != 0 { wrong.append("sound out of silence after reset") }
    return wrong
  }

  /// Numbers too small to be normal do no harm.
  public func denormals() -> [String] {
    let tiny = Float(bitPattern: 71_362)  // 1e-40
    let signals = description.noise(frames: 2048).map { $0.map { $0.map { $0 < 0 ? -tiny : tiny } } }
    let output = unit().render(signals, frames: 2048)
    if !isFinite(output) { return ["not finite"] }
    return description.inputs.isEmpty || peak(output) < 1e-30 ? [] : ["\(peak(output)) out of nothing"]
  }

  /// A burst of 1e30 is over after the tail.
  public func recovery() -> [String] {
    let signals = description.noise(frames: 4096)
    let used = unit()
    _ = used.render(signals.map { $0.map { $0.prefix(64).map { $0 * 2e30 } } }, frames: 64)
    let tail = used.tail()
    if tail > Int64(5 * sampleRate) { return [] }
    let start = (64 + tail + 31) / 32 * 32
    _ = used.render(signals.map { $0.map { _ in [] } }, frames: Int(start) - 64)
    let fresh = UnitHarness(description, sampleRate: sampleRate, startFrame: start)
    let expected = fresh.render(signals, frames: 4096).flatMap { $0 }
    let found = used.render(signals, frames: 4096)
    if !isFinite(found) { return ["not finite after 1e30"] }
    return zip(expected, found.flatMap { $0 }).compactMap { expected, found in
      let ratio = (Signals.rms(found) + 1e-9) / (Signals.rms(expected) + 1e-9)
      return (0.5...2).contains(ratio) ? nil : "\(ratio) times as loud after 1e30"
    }
  }

  // MARK: Parts

  private func unit() -> UnitHarness { UnitHarness(description, sampleRate: sampleRate) }

  /// The parameters that may be set, by their full names; of three growing inputs those too.
  private var settable: [(name: String, parameter: ParameterDescription)] {
    let own = description.parameters.filter { !$0.isReadOnly }.map { (name: $0.name, parameter: $0) }
    let growing = description.growingInputs == nil ? 0 : 3
    return own
      + (0..<growing).flatMap { bus in
        description.inputParameters.map { (name: "input\(bus)\($0.name)", parameter: $0) }
      }
  }

  /// Sets of random parameters to random values at odd frames, with ramps of all sorts.
  public func events(seed: UInt64) -> [UnitHarness.Event] {
    let settable = settable
    if settable.isEmpty { return [] }
    var random = SeededGenerator(seed)
    let ramps: [Int32?] = [nil, nil, nil, 0, 1, 7, 100, 2000]
    return (0..<120).map { k in
      // Each parameter has its turn before any has a second one; after that at random.
      let (name, parameter) =
        k < settable.count ? settable[k] : settable[Int.random(in: 0..<settable.count, using: &random)]
      let range = parameter.range
      var value = Float.random(in: range, using: &random)
      if parameter.taper == .logarithmic {
        let exponent = Float.random(
          in: backline_log2f(range.lowerBound)...backline_log2f(range.upperBound), using: &random)
        value = min(max(backline_exp2f(exponent), range.lowerBound), range.upperBound)
      }
      if parameter.isStepped { value = value.rounded() }
      return UnitHarness.Event(
        k * 61 + k % 3, name, value, ramp: ramps[Int.random(in: 0..<ramps.count, using: &random)])
    }
  }

  private func firstDifference(_ expected: [[[Float]]], _ found: [[[Float]]]) -> String? {
    for (bus, pair) in zip(expected, found).enumerated() {
      for (channel, samples) in zip(pair.0, pair.1).enumerated() {
        if samples.0.count != samples.1.count { return "another length on bus \(bus)" }
        for frame in samples.0.indices where samples.0[frame].bitPattern != samples.1[frame].bitPattern {
          return "\(samples.1[frame]) for \(samples.0[frame]) at bus \(bus), channel \(channel), frame \(frame)"
        }
      }
    }
    return nil
  }

  private func isFinite(_ output: [[[Float]]]) -> Bool {
    output.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } }
  }

  private func peak(_ output: [[[Float]]]) -> Float { Signals.peak(output.flatMap { $0.flatMap { $0 } }) }
}
