import BacklineRealtime
import CBackline

/// A brick-wall limiter that looks ahead and keeps true peaks below its ceiling.
///
/// - The true peak of both channels (ITU-R BS.1770-4, `TruePeakDetector`) gives the reduction that each moment needs.
/// - The reduction asked for is the largest within the look-ahead, released by one time constant, then averaged over the
///   look-ahead by a triangle: an average of values that are all enough is enough, so the gain glides down in time and no
///   sample is clipped (P. Hämäläinen, "Smoothing of the control signal without clipped output in digital peak limiters",
///   DAFx 2002).
/// - All is done per sample in decibels; the signal waits for 2 ms and 48 frames, which is the unit's latency.
public struct Limiter: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case gain, ceiling, releaseTime, gainReduction }

  public static let description = UnitDescription(
    kind: "limiter", title: "Limiter",
    summary: "Makes sure that nothing comes out louder than the ceiling, not even between the samples.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("gain", "How much louder the input gets before it is limited.", -24...36, default: 0, measure: .decibels),
      .init(
        "ceiling", "The loudest true peak that comes out; -1 leaves room for lossy formats.", -24...0, default: -1,
        measure: .decibels),
      .init(
        "releaseTime",
        "How fast it turns up again: 63 % of the way in this time. Short is loud, long is clean.", 0.01...3,
        default: 0.1, measure: .seconds, taper: .logarithmic),
      .reading("gainReduction", "How much it turns down now.", 0...240, default: 0, measure: .decibels),
    ],
    latency: { sampleRate, _ in Limiter.latency(sampleRate) },
    make: { UnitInstance(Limiter.self, $0) })

  public static let functions = UnitFunctions(
    render: limiterRender, set: limiterSet, reset: limiterReset, tail: limiterTail)

  /// What the ceiling is lowered by, for what the interpolator misses just below half the sample rate.
  private static var margin: Float { @_noLocks get { 0.05 / 6.020_599_9 } }
  private static var lookAheadSeconds: Double { @_noLocks get { 0.002 } }
  /// The loudest that is told apart, as a factor.
  private static var loudest: Float { @inline(__always) @_noLocks get { 1e6 } }

  private static var detectorTaps: Int32 { 96 }
  private static func lookAhead(_ sampleRate: Double) -> Int { max(8, Int(lookAheadSeconds * sampleRate + 0.5)) }
  private static func latency(_ sampleRate: Double) -> Int { lookAhead(sampleRate) + Int(detectorTaps) / 2 }

  private let sampleRate: Double
  private let latency: Int
  private let reading: UnsafeMutablePointer<Float>
  private let detector = TruePeakDetector(taps: Limiter.detectorTaps)
  private var line: StereoDelayLine
  private var largest: SlidingMaximum
  private var smoother: BoxSmoother
  private var gain = Ramp(1)
  /// In octaves of amplitude.
  private var ceiling = Ramp(Self.level(-1))
  private var release: Ramp
  private var reduction = 0.0

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    reading = format.readings + Parameter.gainReduction.rawValue
    let lookAhead = Self.lookAhead(sampleRate)
    latency = Self.latency(sampleRate)
    line = StereoDelayLine(maximum: latency + 1)
    // A peak between two samples holds for both.
    largest = SlidingMaximum(length: lookAhead + 2)
    smoother = BoxSmoother(length: lookAhead)
    release = Ramp(TimeConstant.coefficient(0.1, sampleRate: sampleRate))
  }

  deinit {
    detector.deallocate()
    line.deallocate()
    largest.deallocate()
    smoother.deallocate()
  }

  @_noLocks
  private static func level(_ decibels: Float) -> Float { decibels / CompressorCurve.decibelsPerOctave - margin }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let level = gain.next()
      let x = Self.bounded(left[frame] * level), y = Self.bounded(right[frame] * level)
      let factor = FastMath.exp2(-follow(x, y))
      line.write(SIMD2(x, y))
      let delayed = line.read(latency)
      leftOut[frame] = delayed.x * factor
      rightOut[frame] = delayed.y * factor
    }
    backline_store_float(reading, Float(reduction) * CompressorCurve.decibelsPerOctave)
  }

  /// What is beyond is no sound, and would need more reduction than there is.
  @inline(__always) @_noLocks
  private static func bounded(_ x: Float) -> Float { x > -loudest ? (x < loudest ? x : loudest) : -loudest }

  /// Takes a frame; returns the reduction in octaves for the frame that leaves the delay now.
  @inline(__always) @_noLocks
  private mutating func follow(_ left: Float, _ right: Float) -> Float {
    let ceiling = ceiling.next()
    let peaks = detector.next(left, right, floor: FastMath.exp2(ceiling))
    let peak = peaks.x > peaks.y ? peaks.x : peaks.y
    let over = FastMath.log2(peak > 1e-6 ? peak : 1e-6) - ceiling
    let wanted = Double(largest.next(over > 0 ? over : 0))
    let distance = wanted - reduction
    reduction = distance >= 0 ? wanted : reduction + distance * Double(release.value)
    if wanted == 0 && reduction < 1e-6 { reduction = 0 }
    release.advance()
    return smoother.next(Float(reduction))
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .gain: gain.move(to: Decibels.gain(min(value, 60)), over: frames)
    case .ceiling:
      ceiling.move(to: Self.level(max(-60, min(value, 0))), over: frames)
      detector.wake()
    case .releaseTime:
      release.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .gainReduction, nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    gain.settle()
    ceiling.settle()
    release.settle()
    detector.reset()
    line.clear()
    largest.reset()
    smoother.reset()
    reduction = 0
    backline_store_float(reading, 0)
  }

  /// The latency, then the time until the gain has come to rest: a pause sounds the same rendered or skipped.
  @_noLocks
  func tail() -> Int64 {
    let waiting = 3 * Int64(latency) &+ detector.length
    let slowest = Double(min(release.value, release.target))
    let level = max(reduction, 24)
    let frames = backline_log(1e-7 / level) / backline_log(1 - slowest)
    return waiting &+ (frames < 1e12 ? Int64(frames) : 0)
  }
}

@_noLocks
private func limiterRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Limiter.self).pointee.render(block.pointee)
}

@_noLocks
private func limiterSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Limiter.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func limiterReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Limiter.self).pointee.reset()
}

@_noLocks
private func limiterTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Limiter.self).pointee.tail()
}
