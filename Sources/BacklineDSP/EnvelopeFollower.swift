import BacklineRealtime
import CBackline

/// Follows the peaks of a signal: up with one time constant, down with another ("smooth, branching" in Giannoulis, Massberg
/// and Reiss, "Digital Dynamic Range Compressor Design", J. Audio Eng. Soc. 60, 2012).
///
/// In Double, where even a release of seconds loses nothing to rounding. What is negligible ends at once, so that a state
/// that has come to rest is exactly that of a reset.
struct EnvelopeFollower {
  /// What counts as none: -180 dB.
  private static var negligible: Double { @inline(__always) @_noLocks get { 1e-9 } }

  private(set) var level = 0.0
  private var attack: Ramp
  private var release: Ramp
  private let sampleRate: Double

  @_noLocks
  init(attack: Float, release: Float, sampleRate: Double) {
    self.sampleRate = sampleRate
    self.attack = Ramp(TimeConstant.coefficient(attack, sampleRate: sampleRate))
    self.release = Ramp(TimeConstant.coefficient(release, sampleRate: sampleRate))
  }

  @_noLocks
  mutating func setAttack(_ seconds: Float, over frames: Int32) {
    attack.move(to: TimeConstant.coefficient(seconds, sampleRate: sampleRate), over: frames)
  }

  @_noLocks
  mutating func setRelease(_ seconds: Float, over frames: Int32) {
    release.move(to: TimeConstant.coefficient(seconds, sampleRate: sampleRate), over: frames)
  }

  var isMoving: Bool { @inline(__always) @_noLocks get { !(attack.isSettled && release.isSettled) } }

  /// Takes the level of one frame, 0 or more; returns the envelope.
  @inline(__always) @_noLocks
  mutating func next(_ input: Float) -> Double {
    let distance = Double(input) - level
    level += distance * Double(distance > 0 ? attack.value : release.value)
    if distance <= 0 && level < Self.negligible { level = Double(input) }
    attack.advance()
    release.advance()
    return level
  }

  @_noLocks
  mutating func reset() {
    attack.settle()
    release.settle()
    level = 0
  }

  /// The frames until a silent input has been forgotten.
  @_noLocks
  func tail() -> Int64 {
    if !(level > Self.negligible) { return 2 }
    let slowest = Double(min(release.value, release.target))
    let frames = backline_log(Self.negligible / level) / backline_log(1 - slowest)
    return frames > 0 && frames < 1e12 ? Int64(frames) + 2 : 2
  }
}
