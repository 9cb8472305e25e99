import BacklineRealtime
import CBackline

/// A source of a periodic tone, the same on the left and the right.
///
/// The phase is a 64-bit fraction of a turn, so that it neither drifts nor loses precision: after an hour a tone is
/// within a millionth of a radian of where it should be. A change of frequency goes on from the phase reached; a change
/// of waveform is crossfaded. A reset starts again at phase 0.
public struct Oscillator: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case waveform, frequency, gain }

  public static let description = UnitDescription(
    kind: "oscillator", title: "Oscillator", summary: "Makes a steady tone, to tune, test or modulate.",
    inputs: [], outputs: [.init("output")],
    parameters: [
      .discrete("waveform", "The shape of the wave.", ["sine", "triangle", "square", "sawtooth"]),
      .init(
        "frequency", "The pitch; never above half the sample rate.", 0.1...20_000, default: 440, measure: .hertz,
        taper: .logarithmic),
      .init(
        "gain", "The peak level; at the bottom of the range, silent.", -96...0, default: -12, measure: .decibels),
    ],
    make: { UnitInstance(Oscillator.self, $0) })

  public static let functions = UnitFunctions(
    render: oscillatorRender, set: oscillatorSet, reset: oscillatorReset, tail: oscillatorTail)

  private let turnsPerHertz: Double
  private var phase: UInt64 = 0
  private var frequency = Ramp(440)
  private var level = Ramp(Decibels.gain(-12))
  private var waveform = Crossfade(0)

  public init(_ format: UnitFormat) { turnsPerHertz = 0x1p64 / format.sampleRate }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.output(0, 0), right = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    while start < count && !(frequency.isSettled && level.isSettled && waveform.isSettled) {
      let increment = increment(frequency.next())
      var sample = Waveform.value(waveform.to, phase, increment)
      if !waveform.isSettled {
        let old = Waveform.value(waveform.from, phase, increment)
        sample = old + waveform.weight * (sample - old)
        waveform.advance()
      }
      sample *= level.next()
      left[start] = sample
      right[start] = sample
      phase &+= increment
      start &+= 1
    }
    if start == count { return }
    let increment = increment(frequency.value)
    let gain = level.value
    // A loop of its own for each shape, so that the choice is not made per sample.
    switch waveform.to {
    case 0: fill(0, increment, gain, left, right, from: start, to: count)
    case 1: fill(1, increment, gain, left, right, from: start, to: count)
    case 2: fill(2, increment, gain, left, right, from: start, to: count)
    default: fill(3, increment, gain, left, right, from: start, to: count)
    }
  }

  @inline(__always) @_noLocks
  private mutating func fill(
    _ shape: Int32, _ increment: UInt64, _ gain: Float, _ left: UnsafeMutablePointer<Float>,
    _ right: UnsafeMutablePointer<Float>, from start: Int, to end: Int
  ) {
    let first = phase
    for i in start..<end {
      let sample = Waveform.value(shape, first &+ increment &* UInt64(truncatingIfNeeded: i &- start), increment) * gain
      left[i] = sample
      right[i] = sample
    }
    phase = first &+ increment &* UInt64(truncatingIfNeeded: end &- start)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .waveform: waveform.move(to: Int32(max(0, min(value, 3)) + 0.5), over: rampFrames)
    case .frequency: frequency.move(to: value, over: rampFrames)
    case .gain: level.move(to: Decibels.gain(min(value, 0)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    phase = 0
    frequency.settle()
    level.settle()
    waveform.settle()
  }

  /// The phase that passes in a frame, held to half a turn.
  @inline(__always) @_noLocks
  private func increment(_ hertz: Float) -> UInt64 {
    UInt64(max(0, min(Double(hertz) * turnsPerHertz, 0x1p63)))
  }
}

@_noLocks
private func oscillatorRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Oscillator.self).pointee.render(block.pointee)
}

@_noLocks
private func oscillatorSet(
  _ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32
) {
  state.assumingMemoryBound(to: Oscillator.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func oscillatorReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Oscillator.self).pointee.reset()
}

@_noLocks
private func oscillatorTail(_ state: UnsafeMutableRawPointer) -> Int64 { Tail.endless }
