import BacklineRealtime
import CBackline

/// Turns echoes down while something comes in.
///
/// The input's peak is followed up within 5 ms and down within 300 ms (time constants). From -50 dBFS on the level goes down
/// linearly in dB, to the full depth at -30 dBFS and above.
struct EchoDucker {
  private let attack: Float
  private let release: Float
  private var depth = Ramp(0)
  private var envelope: Float = 0

  init(sampleRate: Double) {
    attack = Float(1 - backline_exp(-1 / (0.005 * sampleRate)))
    release = Float(1 - backline_exp(-1 / (0.3 * sampleRate)))
  }

  /// True where nothing is turned down, whatever comes in.
  var isIdle: Bool { @inline(__always) @_noLocks get { depth.isSettled && depth.value == 0 } }

  /// Sets how far down it goes, in dB.
  @_noLocks
  mutating func setDepth(_ decibels: Float, over rampFrames: Int32) {
    if isIdle { envelope = 0 }
    depth.move(to: decibels, over: rampFrames)
  }

  /// The level of the echoes with this input.
  @inline(__always) @_noLocks
  mutating func next(_ input: SIMD2<Float>) -> Float {
    let amount = depth.next()
    if amount == 0 { return 1 }
    let peak = min(max(abs(input.x), abs(input.y)), 4)
    envelope += (peak - envelope) * (peak > envelope ? attack : release)
    let decibels = 6.020_6 * FastMath.log2(max(envelope, 1e-6))
    let part = max(0, min((decibels + 50) * 0.05, 1))
    return FastMath.exp2(-amount * part * (1 / 6.020_6))
  }

  @_noLocks
  mutating func reset() {
    depth.settle()
    envelope = 0
  }
}
