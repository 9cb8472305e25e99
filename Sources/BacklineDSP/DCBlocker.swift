import BacklineRealtime
import CBackline

/// Takes the constant part out of a signal: a first-order high-pass, y[n] = x[n] - x[n-1] + r y[n-1] (J. O. Smith,
/// "Introduction to Digital Filters", appendix "DC blocker"), scaled to unity gain at half the sample rate, in Double.
public struct DCBlocker: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case cutoffFrequency }

  public static let description = UnitDescription(
    kind: "dcBlocker", title: "DC Blocker",
    summary: "Takes out a constant offset, as sound cards, asymmetric distortion and faulty files have it.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "cutoffFrequency",
        "3 dB down at this frequency, 6 dB an octave: low keeps the bass, high settles sooner.", 1...100, default: 5,
        measure: .hertz, taper: .logarithmic)
    ],
    make: { UnitInstance(DCBlocker.self, $0) })

  public static let functions = UnitFunctions(
    render: dcBlockerRender, set: dcBlockerSet, reset: dcBlockerReset, tail: dcBlockerTail)

  private let sampleRate: Double
  /// The part of the difference between input and average that the average follows in a frame.
  private var coefficient: Ramp
  private var average = SIMD2<Double>.zero

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    coefficient = Ramp(OnePole.coefficient(cutoff: 5, sampleRate: format.sampleRate))
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    var average = average
    for frame in 0..<max(0, Int(block.frameCount)) {
      // The trapezoidal form of the same filter: the coefficient may move from sample to sample.
      let x = backline_stereo_load(left + frame, right + frame)
      let change = backline_stereo_scale(backline_stereo_subtract(x, average), Double(coefficient.value))
      let low = backline_stereo_add(average, change)
      average = backline_stereo_add(low, change)
      backline_stereo_store(backline_stereo_subtract(x, low), leftOut + frame, rightOut + frame)
      coefficient.advance()
    }
    self.average = average
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter != Parameter.cutoffFrequency.rawValue { return }
    coefficient.move(
      to: OnePole.coefficient(cutoff: max(0.1, min(value, 1000)), sampleRate: sampleRate), over: rampFrames)
  }

  @_noLocks
  mutating func reset() {
    coefficient.settle()
    average = .zero
  }

  /// The frames until the average has fallen below -140 dB.
  @_noLocks
  func tail() -> Int64 {
    let level = max(1, max(abs(average.x), abs(average.y))) * 1e7
    let slowest = Double(min(coefficient.value, coefficient.target))
    // The pole is at 1 - 2 times the coefficient.
    return Tail.frames(backline_log(level) / (2 * slowest) / sampleRate, sampleRate: sampleRate) &+ 1
  }
}

@_noLocks
private func dcBlockerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: DCBlocker.self).pointee.render(block.pointee)
}

@_noLocks
private func dcBlockerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: DCBlocker.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func dcBlockerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: DCBlocker.self).pointee.reset()
}

@_noLocks
private func dcBlockerTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: DCBlocker.self).pointee.tail()
}
