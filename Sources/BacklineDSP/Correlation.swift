import BacklineRealtime
import CBackline

/// Shows how alike the two channels are; the signal passes unchanged.
///
/// The correlation coefficient of both channels, from averages of their products with one time constant: 1 for mono, 0 for
/// channels that have nothing to do with each other, -1 where one is the other upside down and a mono sum would be silent.
/// Readings are stored every hundredth of a second.
public struct Correlation: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case responseTime, correlation, balance, midLevel, sideLevel }

  public static let description = UnitDescription(
    kind: "correlation", title: "Correlation Meter",
    summary: "Shows how well the stereo signal survives mono, and leaves it as it is.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "responseTime", "How slowly the readings follow: 63 % of the way in this time.", 0.05...5, default: 0.3,
        measure: .seconds, taper: .logarithmic),
      .reading(
        "correlation", "1 is mono, 0 wide, below 0 something cancels in mono; 0 in silence.", -1...1, default: 0,
        measure: .none),
      .reading(
        "balance", "Where the power is, from -1 (all left) through 0 (alike) to 1 (all right).", -1...1, default: 0,
        measure: .none),
      .reading("midLevel", "The RMS level of half the sum.", -96...60, default: -96, measure: .decibels),
      .reading("sideLevel", "The RMS level of half the difference.", -96...60, default: -96, measure: .decibels),
    ],
    make: { UnitInstance(Correlation.self, $0) })

  public static let functions = UnitFunctions(
    render: correlationRender, set: correlationSet, reset: correlationReset, tail: correlationTail)

  /// Below this power, -120 dB, there is no signal to speak of.
  private static var silence: Double { @_noLocks get { 1e-12 } }
  private static var loudest: Float { @inline(__always) @_noLocks get { 1e6 } }

  private let sampleRate: Double
  private let readings: UnsafeMutablePointer<Float>
  private let hundredth: Int
  private var frames = 0
  private var coefficient: Double
  private var responseTime: Float = 0.3
  private var leftPower = 0.0
  private var rightPower = 0.0
  private var product = 0.0

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    readings = format.readings
    hundredth = max(1, Int(sampleRate / 100 + 0.5))
    coefficient = Double(TimeConstant.coefficient(0.3, sampleRate: format.sampleRate))
    store()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let x = Double(Self.bounded(left[frame])), y = Double(Self.bounded(right[frame]))
      leftPower += (x * x - leftPower) * coefficient
      rightPower += (y * y - rightPower) * coefficient
      product += (x * y - product) * coefficient
      frames &+= 1
      if frames >= hundredth {
        frames = 0
        store()
      }
    }
    for channel in 0..<2 where block.input(0, channel) != UnsafePointer(block.output(0, channel)) {
      backline_copy(block.output(0, channel), block.input(0, channel), Int64(block.frameCount))
    }
  }

  @inline(__always) @_noLocks
  private static func bounded(_ x: Float) -> Float { x > -loudest ? (x < loudest ? x : loudest) : -loudest }

  @_noLocks
  private func store() {
    let sum = leftPower + rightPower
    let geometric = backline_sqrt(leftPower * rightPower)
    let correlation = geometric > Self.silence ? max(-1, min(product / geometric, 1)) : 0
    backline_store_float(readings + Parameter.correlation.rawValue, Float(correlation))
    backline_store_float(
      readings + Parameter.balance.rawValue, sum > Self.silence ? Float((rightPower - leftPower) / sum) : 0)
    let mid = max(0, sum + 2 * product) / 4, side = max(0, sum - 2 * product) / 4
    backline_store_float(readings + Parameter.midLevel.rawValue, min(60, Decibels.level(Float(backline_sqrt(mid)))))
    backline_store_float(readings + Parameter.sideLevel.rawValue, min(60, Decibels.level(Float(backline_sqrt(side)))))
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter != Parameter.responseTime.rawValue { return }
    responseTime = max(0.001, min(value, 60))
    coefficient = Double(TimeConstant.coefficient(responseTime, sampleRate: sampleRate))
  }

  @_noLocks
  mutating func reset() {
    frames = 0
    leftPower = 0
    rightPower = 0
    product = 0
    store()
  }

  /// The time in which the readings fall to the bottom. The signal itself has no tail.
  @_noLocks
  func tail() -> Int64 { Tail.frames(20 * Double(responseTime), sampleRate: sampleRate) }
}

@_noLocks
private func correlationRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Correlation.self).pointee.render(block.pointee)
}

@_noLocks
private func correlationSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Correlation.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func correlationReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Correlation.self).pointee.reset()
}

@_noLocks
private func correlationTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Correlation.self).pointee.tail()
}
