import BacklineRealtime
import CBackline

/// A source of white or pink noise, independent on the left and the right.
///
/// Each white sample is a hash of its frame number since the last reset (SplitMix64; Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014), so any cut into blocks gives the same noise. A change of colour is
/// crossfaded. Both colours have the same RMS level: white noise at 0 dB fills -1 to 1, which is -4.77 dB RMS.
public struct Noise: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case color, gain, seed }

  public static let description = UnitDescription(
    kind: "noise", title: "Noise", summary: "Makes white or pink noise, to test a rig or to build sounds from.",
    inputs: [], outputs: [.init("output")],
    parameters: [
      .discrete("color", "White has equal power per hertz, pink equal power per octave.", ["white", "pink"]),
      .init(
        "gain", "The level, where 0 dB is white noise of full scale; at the bottom of the range, silent.", -96...0,
        default: -20, measure: .decibels),
      .count("seed", "Which noise: sources of different seeds have nothing in common.", 0...65535, default: 0),
    ],
    make: { UnitInstance(Noise.self, $0) })

  public static let functions = UnitFunctions(render: noiseRender, set: noiseSet, reset: noiseReset, tail: noiseTail)

  private var level = Ramp(Decibels.gain(-20))
  private var pinkness = Ramp(0)
  private var seed: UInt64 = 0
  private var frame: UInt64 = 0
  private var left = PinkFilter()
  private var right = PinkFilter()

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for i in 0..<Int(block.frameCount) {
      let white = nextWhite()
      let gain = level.next()
      if pinkness.value == 0 && pinkness.isSettled {
        leftOut[i] = white.x * gain
        rightOut[i] = white.y * gain
      } else {
        let share = pinkness.next()
        leftOut[i] = (white.x + share * (left.filter(white.x) - white.x)) * gain
        rightOut[i] = (white.y + share * (right.filter(white.y) - white.y)) * gain
      }
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .color:
      if pinkness.value == 0 && pinkness.isSettled { resetFilters() }
      pinkness.move(to: value < 0.5 ? 0 : 1, over: rampFrames)
    case .gain: level.move(to: Decibels.gain(min(value, 0)), over: rampFrames)
    case .seed: seed = UInt64(max(0, min(value, 65535)))
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    level.settle()
    pinkness.settle()
    resetFilters()
    frame = 0
  }

  /// Two samples in ±1 from one hash.
  @inline(__always) @_noLocks
  private mutating func nextWhite() -> SIMD2<Float> {
    var bits = (frame &+ seed << 44) &* 0x9E37_79B9_7F4A_7C15 &+ 0x2545_F491_4F6C_DD1D
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    bits ^= bits >> 31
    frame &+= 1
    let first = Int32(truncatingIfNeeded: bits), second = Int32(truncatingIfNeeded: bits >> 32)
    return SIMD2(Float(first), Float(second)) * 0x1p-31
  }

  @_noLocks
  private mutating func resetFilters() {
    left = PinkFilter()
    right = PinkFilter()
  }
}

/// Turns white noise pink: 3 dB less an octave, within 0.05 dB from 1/4800 of the sample rate up.
///
/// Six first-order filters in parallel, by Paul Kellet ("refined" filter, music-dsp list, 1999), here side by side in
/// one vector, scaled to the RMS level of the input. Other than at the low end the slope does not depend on the sample rate.
private struct PinkFilter {
  private var states = SIMD8<Float>(repeating: 0)
  private var delayed: Float = 0

  @inline(__always) @_noLocks
  mutating func filter(_ white: Float) -> Float {
    let poles = SIMD8<Float>(0.99886, 0.99332, 0.96900, 0.86650, 0.55000, -0.7616, 0, 0)
    let gains = SIMD8<Float>(
      0.055_517_9, 0.075_075_9, 0.153_852_0, 0.310_485_6, 0.532_952_2, -0.016_898_0, 0.5362, 0)
    states = states * poles + gains * white
    let sum = states.sum() + delayed
    delayed = white * 0.115_926
    return sum * 0.327_597_4  // 1 over the root of the impulse response's energy
  }
}

@_noLocks
private func noiseRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Noise.self).pointee.render(block.pointee)
}

@_noLocks
private func noiseSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Noise.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func noiseReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Noise.self).pointee.reset()
}

@_noLocks
private func noiseTail(_ state: UnsafeMutableRawPointer) -> Int64 { Tail.endless }
