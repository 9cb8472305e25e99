import BacklineRealtime

/// The delay of a signal that waits for what its gain is computed from. A new length fades from tap to tap.
struct LookAhead {
  /// The frames of a length in seconds: to nearest, half up.
  @_noLocks
  static func frames(_ seconds: Float, _ sampleRate: Double) -> Int {
    Int(Double(max(0, min(seconds, 1))) * sampleRate + 0.5)
  }

  private let sampleRate: Double
  private var line: StereoDelayLine
  private var delay = Crossfade(0)

  /// Without delay, for up to `longest` seconds.
  init(longest: Float, sampleRate: Double) {
    self.sampleRate = sampleRate
    line = StereoDelayLine(maximum: Self.frames(longest, sampleRate) + 1)
  }

  func deallocate() { line.deallocate() }

  /// The frames that the signal waits at most, now or soon.
  var longest: Int32 { @_noLocks get { delay.largest } }

  /// Moves to another length in seconds.
  @_noLocks
  mutating func move(to seconds: Float, over frames: Int32) {
    delay.move(to: Int32(truncatingIfNeeded: Self.frames(seconds, sampleRate)), over: frames)
  }

  /// Takes a frame; returns the one whose time has come.
  @inline(__always) @_noLocks
  mutating func next(_ frame: SIMD2<Float>) -> SIMD2<Float> {
    line.write(frame)
    let new = line.read(Int(delay.to))
    if delay.isSettled { return new }
    let old = line.read(Int(delay.from))
    let weight = delay.weight
    delay.advance()
    return SIMD2(old.x + weight * (new.x - old.x), old.y + weight * (new.y - old.y))
  }

  /// True where the signal does not wait.
  var isIdle: Bool { @_noLocks get { delay.isSettled && delay.to == 0 } }

  /// Takes frames that do not wait, for a delay that may come.
  @inline(__always) @_noLocks
  mutating func note(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ count: Int) {
    for frame in 0..<max(0, count) { line.write(SIMD2(left[frame], right[frame])) }
  }

  @_noLocks
  mutating func reset() {
    line.clear()
    delay.settle()
  }
}
