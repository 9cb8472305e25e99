import BacklineRealtime
import CBackline

/// Two springs, one a side: echoes that chirp, low frequencies last.
///
/// The parametric spring of Välimäki, Parker and Abel ("Parametric spring reverberation effect", JAES 58, 2010), its part below the
/// transition frequency of 4.3 kHz: a chain of stretched all-pass filters, (a + z⁻ᵏ) / (1 + a z⁻ᵏ) with a = 0.62, which delays
/// low-mid frequencies the more the nearer they are to the transition, a low-pass there, and an inverting loop that sends each
/// echo through all of it again. The loop's gain follows from the decay time.
struct SpringTank {
  private static var stages: Int { @_noLocks get { 60 } }
  private static var transition: Double { @_noLocks get { 4300 } }
  /// The time of a round at low frequencies in seconds, left and right.
  private static var seconds: SIMD2<Double> { @_noLocks get { SIMD2(0.0560, 0.0487) } }

  private let sampleRate: Double
  private let stretch: Int
  private let states: UnsafeMutablePointer<SIMD2<Float>>
  private var line: StereoDelayLine
  private let delays: SIMD2<Int32>
  private var place = 0
  private var low1 = OnePole()
  private var low2 = OnePole()
  private var low3 = OnePole()
  private var gain = Ramp(0)
  private var level = Ramp(0)

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    stretch = max(1, Int(sampleRate / (2 * Self.transition) + 0.5))
    let count = Self.stages * stretch
    states = UnsafeMutableRawPointer(SampleMemory.allocate(2 * count)).bindMemory(
      to: SIMD2<Float>.self, capacity: count)
    // What the chain delays low frequencies by.
    let chain = Double(Self.stages * stretch) * (1 - 0.62) / (1 + 0.62)
    let rest = Self.seconds * sampleRate - SIMD2(chain, chain)
    delays = SIMD2(Int32(max(1, rest.x)), Int32(max(1, rest.y)))
    line = StereoDelayLine(maximum: Int(0.06 * sampleRate) + 1)
    let coefficient = Ramp(OnePole.coefficient(cutoff: Float(Self.transition), sampleRate: sampleRate))
    low1.coefficient = coefficient
    low2.coefficient = coefficient
    low3.coefficient = coefficient
  }

  func deallocate() {
    SampleMemory.free(UnsafeMutableRawPointer(states).bindMemory(to: Float.self, capacity: 2 * Self.stages * stretch))
    line.deallocate()
  }

  /// Moves to a decay time in seconds over `frames` frames.
  @_noLocks
  mutating func move(decayTime: Float, over frames: Int32) {
    let round = Float(0.5 * (Self.seconds.x + Self.seconds.y))
    let loop = min(backline_expf(-6.907_755 * round / max(0.05, decayTime)), 0.98)
    gain.move(to: -loop, over: frames)
    // As loud as the input for noise, whatever the decay.
    level.move(to: Float(backline_sqrt(Double(1 - loop * loop))) * 2, over: frames)
  }

  /// One frame.
  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD2<Float>) -> SIMD2<Float> {
    let back = SIMD2(line.read(Int(delays.x) &- 1).x, line.read(Int(delays.y) &- 1).y)
    var signal = input + back * gain.next()
    let row = states + place &* Self.stages
    let a: Float = 0.62
    for stage in 0..<Self.stages {
      let old = row[stage]
      let inner = signal - old * a
      row[stage] = inner
      signal = old + inner * a
    }
    place = place &+ 1 == stretch ? 0 : place &+ 1
    signal = low3.lowPass(low2.lowPass(low1.lowPass(signal)))
    line.write(signal)
    return signal * level.next()
  }

  /// Forgets the past and ends the movement.
  @_noLocks
  mutating func reset() {
    for i in 0..<max(0, Self.stages &* stretch) { states[i] = .zero }
    line.clear()
    place = 0
    low1.reset()
    low2.reset()
    low3.reset()
    gain.settle()
    level.settle()
  }
}
