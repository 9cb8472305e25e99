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
  private let left: UnsafeMutablePointer<Float>
  private let right: UnsafeMutablePointer<Float>
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
    left = SampleMemory.allocate(TruePeakDetector.chunk)
    right = SampleMemory.allocate(TruePeakDetector.chunk)
    line = StereoDelayLine(maximum: latency + 1)
    // A peak between two samples holds for both.
    largest = SlidingMaximum(length: lookAhead + 2)
    smoother = BoxSmoother(length: lookAhead)
    release = Ramp(TimeConstant.coefficient(0.1, sampleRate: sampleRate))
  }

  deinit {
    detector.deallocate()
    SampleMemory.free(left)
    SampleMemory.free(right)
    line.deallocate()
    largest.deallocate()
    smoother.deallocate()
  }

  @_noLocks
  private static func level(_ decibels: Float) -> Float { decibels / CompressorCurve.decibelsPerOctave - margin }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    var offset = 0
    while offset < Int(block.frameCount) {
      let count = min(TruePeakDetector.chunk, Int(block.frameCount) &- offset)
      amplify(block.input(0, 0) + offset, block.input(0, 1) + offset, count)
      // A ceiling that moves is between the two.
      let floor = FastMath.exp2(min(ceiling.value, ceiling.target))
      detector.run(left, right, count: count, floors: SIMD2(floor, floor))
      limit(block.output(0, 0) + offset, block.output(0, 1) + offset, count)
      offset &+= count
    }
    backline_store_float(reading, Float(reduction) * CompressorCurve.decibelsPerOctave)
  }

  /// Brings a chunk to its level. What is beyond 120 dB is no sound, and would need more reduction than there is.
  @_noLocks
  private mutating func amplify(_ leftIn: UnsafePointer<Float>, _ rightIn: UnsafePointer<Float>, _ count: Int) {
    for frame in 0..<max(0, count) {
      let level = gain.next()
      left[frame] = Self.bounded(leftIn[frame] * level)
      right[frame] = Self.bounded(rightIn[frame] * level)
    }
  }

  @inline(__always) @_noLocks
  private static func bounded(_ x: Float) -> Float { x > -loudest ? (x < loudest ? x : loudest) : -loudest }

  /// Delays a chunk and turns it down.
  @_noLocks
  private mutating func limit(
    _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    for frame in 0..<max(0, count) {
      let factor = FastMath.exp2(-follow(max(detector.left[frame], detector.right[frame])))
      line.write(SIMD2(left[frame], right[frame]))
      let delayed = line.read(latency)
      leftOut[frame] = delayed.x * factor
      rightOut[frame] = delayed.y * factor
    }
  }

  /// Takes a peak; returns the reduction in octaves for the frame that leaves the delay now.
  @inline(__always) @_noLocks
  private mutating func follow(_ peak: Float) -> Float {
    let over = FastMath.log2(peak > 1e-6 ? peak : 1e-6) - ceiling.next()
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
    case .ceiling: ceiling.move(to: Self.level(max(-60, min(value, 0))), over: frames)
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
