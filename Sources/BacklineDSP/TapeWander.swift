import BacklineRealtime
import CBackline

/// How far a tape runs ahead of itself: the slow wow of a reel and the faster flutter of capstan and rollers.
///
/// Three sines of 0.55, 5.3 and 9.7 Hz, which machines show as the strongest lines (IEC 60386 weighs around 4 Hz), with the
/// shares 1, 0.08 and 0.03 in time. Their phases count from absolute frame 0, as the `LFO`'s do.
struct TapeWander {
  /// The most that the tap moves away, in seconds.
  static var longestTime: Double { @_noLocks get { 0.004 } }

  private let frames: Float
  private let wow: UInt64
  private let flutter: UInt64
  private let scrape: UInt64
  private var depth = Ramp(0)
  private var frame: Int64 = 0
  private var isPlaced = false

  init(sampleRate: Double) {
    frames = Float(Self.longestTime * sampleRate)
    wow = UInt64(0.55 / sampleRate * 0x1p64)
    flutter = UInt64(5.3 / sampleRate * 0x1p64)
    scrape = UInt64(9.7 / sampleRate * 0x1p64)
  }

  /// True where the tap stays.
  var isIdle: Bool { @inline(__always) @_noLocks get { depth.isSettled && depth.value == 0 } }

  @_noLocks
  mutating func setDepth(_ value: Float, over rampFrames: Int32) { depth.move(to: value, over: rampFrames) }

  @inline(__always) @_noLocks
  mutating func begin(at absolute: Int64) {
    if isPlaced { return }
    frame = absolute
    isPlaced = true
  }

  /// What to add to the tap at the coming frame, as whole frames and the rest.
  @inline(__always) @_noLocks
  mutating func next() -> (whole: Int, fraction: Float) {
    let now = UInt64(bitPattern: frame)
    frame &+= 1
    let amount = depth.next()
    if amount == 0 { return (0, 0) }
    let slow = Sine.value(UInt32(truncatingIfNeeded: (wow &* now) >> 32))
    let fast = Sine.value(UInt32(truncatingIfNeeded: (flutter &* now) >> 32))
    let rough = Sine.value(UInt32(truncatingIfNeeded: (scrape &* now) >> 32))
    let offset = amount * frames * (0.5 + 0.45 * (slow + 0.08 * fast + 0.03 * rough))
    let whole = Int(offset)
    return (whole, offset - Float(whole))
  }

  /// Goes on by some frames in which the tap stayed.
  @inline(__always) @_noLocks
  mutating func skip(_ count: Int) { frame &+= Int64(count) }

  @_noLocks
  mutating func reset() {
    depth.settle()
    isPlaced = false
  }
}
