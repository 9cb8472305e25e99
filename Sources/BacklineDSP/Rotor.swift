import BacklineRealtime
import CBackline

/// One rotating horn or drum: its speed with inertia, its angle, and what two microphones hear of it.
///
/// After Smith, Serafin, Abel and Berners ("Doppler simulation and the Leslie", DAFx 2002): the source moves on a circle, so
/// that its distance, and with it delay and level, goes with the cosine of the angle between it and the microphone. The speed
/// nears the one asked for exponentially. The angle is a 64-bit fraction of a turn.
struct Rotor {
  private let sampleRate: Double
  private var line: SlidingLine
  /// The radius as the sound's way, in frames.
  private let radius: Float
  /// How much quieter it is when it faces away, 0 to 1.
  private let shade: Float
  private var angle: UInt64 = 0
  /// Turns a second.
  private(set) var speed = 0.0
  private var goal = 0.0
  private var part = 0.0
  private var increment: UInt64 = 0

  /// A rotor of `radius` metres at rest.
  init(sampleRate: Double, radius: Double, shade: Float) {
    self.sampleRate = sampleRate
    self.radius = Float(radius / 343 * sampleRate)
    self.shade = shade
    line = SlidingLine(maximum: Int(2 * radius / 343 * sampleRate) + 8)
  }

  func deallocate() { line.deallocate() }

  /// The longest delay in frames.
  var longest: Int { @_noLocks get { Int(2 * radius) &+ 4 } }

  /// Goes for a speed in turns a second, 63 % of the way in `time` seconds.
  @_noLocks
  mutating func aim(_ turnsPerSecond: Double, time: Double) {
    goal = turnsPerSecond
    part = 1 - backline_exp(-1 / (max(time, 1e-3) * sampleRate))
  }

  /// Turns as asked for at once, from angle 0.
  @_noLocks
  mutating func reset() {
    speed = goal
    angle = 0
    increment = turns(speed)
    line.clear()
  }

  @inline(__always) @_noLocks
  private func turns(_ hertz: Double) -> UInt64 { UInt64(max(0, min(hertz / sampleRate, 0.5)) * 0x1p64) }

  /// One frame: what the microphones hear, each `width` (turns) off the middle.
  @inline(__always) @_noLocks
  mutating func next(_ input: Float, width: UInt32, depth: Float) -> SIMD2<Float> {
    line.write(SIMD2(input, input))
    let quarter: UInt32 = 1 << 30
    let turn = UInt32(truncatingIfNeeded: angle >> 32) &+ quarter
    let facing = SIMD2(Sine.value(turn &+ width), Sine.value(turn &- width))
    let away = (1 - facing) * depth
    let heard = line.read(away * radius + SlidingLine.least) * (1 - away * (0.5 * shade))
    angle = angle &+ increment
    if speed != goal { accelerate() }
    return heard
  }

  @inline(__always) @_noLocks
  private mutating func accelerate() {
    speed += (goal - speed) * part
    if abs(goal - speed) < 1e-6 { speed = goal }
    increment = turns(speed)
  }
}
