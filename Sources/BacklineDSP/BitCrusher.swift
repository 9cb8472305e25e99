import BacklineRealtime
import CBackline

/// Fewer bits and fewer samples: the sound of early samplers.
///
/// - Samples are held: a phase in 64-bit fixed point counts the periods of `holdRate`, so that the holding is exact for ever.
///   At or above the sample rate nothing is held. What lies above half of `holdRate` folds down, as it should here.
/// - Then the level is rounded to steps of 2^(1 - bits) and held to ±1: a mid-tread quantiser, whose noise on a busy signal is
///   that of a uniform error, 6.02 · bits + 1.76 dB below a full sine (Widrow and Kollár, "Quantization Noise", 2008).
public struct BitCrusher: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case bitDepth, holdRate, wetDryMix }

  public static let description = UnitDescription(
    kind: "bitCrusher", title: "Bit crusher", summary: "Makes the sound coarse, as of an early sampler or a toy.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "bitDepth", "How many steps a sample has: fewer bits are rougher, and soft sounds vanish.", 1...24, default: 8),
      .init(
        "holdRate", "How many samples a second are left: fewer are duller and ring falsely.", 100...192_000,
        default: 12_000, measure: .hertz, taper: .logarithmic),
      .init(
        "wetDryMix", "How much of the output is crushed: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
    ],
    make: { UnitInstance(BitCrusher.self, $0) })

  public static let functions = UnitFunctions(
    render: bitCrusherRender, set: bitCrusherSet, reset: bitCrusherReset, tail: bitCrusherTail)

  private let sampleRate: Double
  private var bits = Ramp(8)
  private var rate = Ramp(12_000)
  private var mix = Ramp(1)
  private var increment: UInt64 = 0
  private var phase: UInt64 = 0
  private var takes = true
  private var held = SIMD2<Float>(repeating: 0)
  private var steps: Float = 128

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    increment = increment(12_000)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for i in 0..<max(0, Int(block.frameCount)) {
      let input = SIMD2(left[i], right[i])
      if takes { held = SIMD2(quantise(input.x), quantise(input.y)) }
      let (next, wraps) = phase.addingReportingOverflow(increment)
      phase = next
      takes = wraps || increment == 0
      let weight = mix.next()
      let output = input * (1 - weight) + held * weight
      leftOut[i] = output.x
      rightOut[i] = output.y
      if !bits.isSettled {
        bits.advance()
        steps = backline_exp2f(bits.value - 1)
      }
      if !rate.isSettled {
        rate.advance()
        increment = increment(rate.value)
      }
    }
  }

  @inline(__always) @_noLocks
  private func quantise(_ sample: Float) -> Float {
    backline_floorf(max(-1, min(sample, 1)) * steps + 0.5) / steps
  }

  /// The phase of one frame; 0 where every sample is taken.
  @inline(__always) @_noLocks
  private func increment(_ hertz: Float) -> UInt64 {
    let turns = Double(max(1, hertz)) / sampleRate
    return turns >= 1 ? 0 : UInt64(turns * 0x1p64)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .bitDepth:
      bits.move(to: max(1, min(value, 24)), over: rampFrames)
      steps = backline_exp2f(bits.value - 1)
    case .holdRate:
      rate.move(to: max(1, min(value, 1e6)), over: rampFrames)
      increment = increment(rate.value)
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    bits.settle()
    rate.settle()
    mix.settle()
    steps = backline_exp2f(bits.value - 1)
    increment = increment(rate.value)
    phase = 0
    takes = true
    held = .zero
  }

  /// The time that a sample is held.
  @_noLocks
  func tail() -> Int64 { Int64(sampleRate / Double(max(1, min(rate.value, rate.target)))) &+ 2 }
}

@_noLocks
private func bitCrusherRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: BitCrusher.self).pointee.render(block.pointee)
}

@_noLocks
private func bitCrusherSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: BitCrusher.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func bitCrusherReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: BitCrusher.self).pointee.reset()
}

@_noLocks
private func bitCrusherTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: BitCrusher.self).pointee.tail()
}
