import BacklineRealtime

/// A whole number that cannot move smoothly (a waveform, the distance of a tap) and is crossfaded instead.
///
/// While it moves, a unit renders with `from` and with `to` and weighs the second with `weight`, the first with what is
/// left to 1 (equal gain). A new target during a movement waits for its end; of several, the newest counts.
struct Crossfade {
  /// Where the movement began; equal to `to` at rest.
  private(set) var from: Int32
  /// Where the movement ends.
  private(set) var to: Int32
  private var position = Ramp(1)
  private var waiting: Int32
  private var waitingFrames: Int32 = 0

  /// A value at rest.
  @_noLocks
  init(_ value: Int32) {
    from = value
    to = value
    waiting = value
  }

  /// True when there is nothing to mix.
  var isSettled: Bool { @inline(__always) @_noLocks get { position.isSettled } }

  /// How much of `to` is heard at the coming frame, 0 to 1.
  var weight: Float { @inline(__always) @_noLocks get { position.value } }

  /// The frames until the movement ends, where the next may begin; 0 at rest.
  var remaining: Int { @inline(__always) @_noLocks get { Int(position.remaining) } }

  /// The value asked for last.
  var target: Int32 { @_noLocks get { waitingFrames > 0 ? waiting : to } }

  /// The largest of the values that are heard now or will be.
  var largest: Int32 { @_noLocks get { max(max(from, to), target) } }

  /// Moves to `value` over `frames` frames, at once when there are none.
  @_noLocks
  mutating func move(to value: Int32, over frames: Int32) {
    if frames <= 0 {
      self = Crossfade(value)
    } else if !position.isSettled {
      waiting = value
      waitingFrames = frames
    } else if value != to {
      from = to
      to = value
      position = Ramp(0)
      position.move(to: 1, over: frames)
    }
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() {
    position.advance()
    if position.isSettled { land() }
  }

  /// Jumps to the value asked for last.
  @_noLocks
  mutating func settle() { self = Crossfade(target) }

  @_noLocks
  private mutating func land() {
    from = to
    let frames = waitingFrames
    waitingFrames = 0
    if frames > 0 { move(to: waiting, over: frames) }
  }
}
