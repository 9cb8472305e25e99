import BacklineRealtime
import CBackline
import Glibc

/// Converts the rate of what a source function writes, as it is asked for: the render thread's own converter.
///
/// A polyphase filter with a Kaiser window (J. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function",
/// ISCAS 1974; J. O. Smith, "Digital audio resampling"): linear phase, 128 taps at the lower rate, no delay, since the source is
/// asked for 64 frames ahead. Within 0.1 dB to 0.45 of the lower rate, images and aliases below -90 dB. The samples do not depend
/// on how calls are cut.
struct SourceRateConverter {
  private static var halfTaps: Int { 64 }
  private static let mostPhases = 1_024
  /// Frames that the source is asked for at once, at most.
  private static var pieceFrames: Int { @_noLocks get { 256 } }

  private let channelCount: Int
  /// Input frames for so many output frames, without a common divisor.
  private let inputStep: Int
  private let outputStep: Int
  private let phaseCount: Int
  private let half: Int
  /// `phaseCount + 1` filters of `2 * half` taps.
  private let taps: UnsafeMutablePointer<Float>
  private let capacity: Int
  private let history: UnsafeMutablePointer<Float>
  private let channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let bus: UnsafeMutablePointer<BusBuffer>
  /// Frames in the history from `start` on, the first of which belongs `half - 1` frames before the present position.
  private var filled: Int
  private var start = 0
  /// How far the coming output frame lies behind the present input frame, in `outputStep`ths of a frame.
  private var fraction = 0
  /// The input frames that have been asked for.
  private var pulled: Int64 = 0

  init(inputRate: Double, outputRate: Double, channelCount: Int) {
    self.channelCount = channelCount
    var (a, b) = (Int(inputRate), Int(outputRate))
    while b != 0 { (a, b) = (b, a % b) }
    inputStep = Int(inputRate) / a
    outputStep = Int(outputRate) / a
    phaseCount = min(outputStep, Self.mostPhases)
    let narrowing = max(1, inputRate / outputRate)
    half = Int((Double(Self.halfTaps) * narrowing).rounded(.up))
    taps = SampleMemory.allocate((phaseCount + 1) * 2 * half)
    capacity = 2 * half + 4 * Self.pieceFrames
    history = SampleMemory.allocate(capacity * channelCount)
    channels = .allocate(capacity: channelCount)
    for channel in 0..<channelCount { (channels + channel).initialize(to: history) }
    bus = .allocate(capacity: 1)
    bus.initialize(
      to: BusBuffer(
        channels: UnsafePointer(channels), channelCount: Int32(channelCount), isConnected: true, isSilent: false))
    // What comes before the first frame is silence.
    filled = half - 1
    fillTaps(cutoff: 0.95 / narrowing)
  }

  func deallocate() {
    SampleMemory.free(taps)
    SampleMemory.free(history)
    channels.deallocate()
    bus.deallocate()
  }

  /// `cutoff` is a part of half the input rate.
  private func fillTaps(cutoff: Double) {
    let beta = 10.0
    let scale = 1 / Self.bessel(beta)
    for phase in 0...phaseCount {
      let offset = Double(phase) / Double(phaseCount)
      let row = taps + phase * 2 * half
      var sum = 0.0
      var values = [Double](repeating: 0, count: 2 * half)
      for tap in 0..<2 * half {
        let x = Double(tap - half + 1) - offset
        let place = x / Double(half)
        if place.magnitude >= 1 { continue }
        let angle = Double.pi * cutoff * x
        let sinc = x == 0 ? 1 : sin(angle) / angle
        values[tap] = sinc * Self.bessel(beta * (1 - place * place).squareRoot()) * scale
        sum += values[tap]
      }
      // Each phase passes a constant exactly.
      for tap in 0..<2 * half { row[tap] = Float(values[tap] / sum) }
    }
  }

  /// The modified Bessel function of the first kind, order 0.
  private static func bessel(_ x: Double) -> Double {
    var sum = 1.0, term = 1.0, k = 1.0
    while term > sum * 1e-17 {
      term *= (x / (2 * k)) * (x / (2 * k))
      sum += term
      k += 1
    }
    return sum
  }

  /// Writes the block's output bus from what `function` gives.
  @_noLocks
  mutating func render(_ block: borrowing RenderBlock, _ function: UnitRender, _ context: UnsafeMutableRawPointer) {
    for i in 0..<Int(block.frameCount) {
      while filled < 2 &* half { pull(function, context) }
      let exact = Float(fraction) * Float(phaseCount) / Float(outputStep)
      let phase = outputStep == phaseCount ? fraction : Int(exact)
      let between = outputStep == phaseCount ? 0 : exact - Float(phase)
      let row = UnsafePointer(taps + phase &* 2 &* half)
      for channel in 0..<channelCount {
        let samples = UnsafePointer(history + (channel &* capacity &+ start))
        var value = Self.product(row, samples, 2 &* half)
        if between > 0 {
          value += (Self.product(row + 2 &* half, samples, 2 &* half) - value) * between
        }
        block.output(0, channel)[i] = value
      }
      fraction &+= inputStep
      let advance = fraction / outputStep
      fraction &-= advance &* outputStep
      drop(advance, function, context)
    }
  }

  /// A sum in four strands, for the compiler to keep in one vector.
  @inline(__always) @_noLocks
  private static func product(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
    var sum = SIMD4<Float>(repeating: 0)
    var i = 0
    while i < count {
      let x = UnsafeRawPointer(a + i).loadUnaligned(as: SIMD4<Float>.self)
      let y = UnsafeRawPointer(b + i).loadUnaligned(as: SIMD4<Float>.self)
      sum += x * y
      i &+= 4
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3])
  }

  /// Lets go of the oldest frames.
  @_noLocks
  private mutating func drop(_ count: Int, _ function: UnitRender, _ context: UnsafeMutableRawPointer) {
    while filled < count { pull(function, context) }
    start &+= count
    filled &-= count
  }

  /// Asks for the next frames.
  @_noLocks
  private mutating func pull(_ function: UnitRender, _ context: UnsafeMutableRawPointer) {
    let count = Self.pieceFrames
    if start &+ filled &+ count > capacity {
      for channel in 0..<channelCount {
        let samples = history + channel &* capacity
        for i in 0..<filled { samples[i] = samples[start &+ i] }
      }
      start = 0
    }
    for channel in 0..<channelCount {
      channels[channel] = history + (channel &* capacity &+ start &+ filled)
      backline_zero(channels[channel], Int64(count))
    }
    bus.pointee.isSilent = false
    var block = RenderBlock(
      frame: pulled, frameCount: Int32(truncatingIfNeeded: count), inputCount: 0, outputCount: 1, inputs: nil,
      outputs: bus)
    backline_render(function, context, &block)
    for channel in 0..<channelCount
    where bus.pointee.isSilent || backline_has_non_finite(channels[channel], Int64(count)) {
      backline_zero(channels[channel], Int64(count))
    }
    pulled &+= Int64(count)
    filled &+= count
  }
}
