import BacklineRealtime

/// The volume and the position of one input of a mixer.
struct MixerStrip {
  static var parameterCount: Int { @_noLocks get { 2 } }

  private var volume = Ramp(1)
  private var pan = Ramp(0)
  /// The beginning of the last block in which the strip had an input.
  var lastHeard = Int64.min

  var isSettled: Bool { @inline(__always) @_noLocks get { volume.isSettled && pan.isSettled } }

  /// The gains of the coming frame.
  var gains: PanLaw.Gains {
    @inline(__always) @_noLocks get {
      let side = PanLaw.balance(pan.value)
      return (volume.value * side.left, volume.value * side.right)
    }
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() {
    volume.advance()
    pan.advance()
  }

  /// Takes the new value of the parameter 0 (volume) or 1 (pan).
  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch parameter {
    case 0: volume.move(to: min(1, max(0, value)), over: rampFrames)
    case 1: pan.move(to: min(1, max(-1, value)), over: rampFrames)
    default: break
    }
  }

  @_noLocks
  mutating func settle() {
    volume.settle()
    pan.settle()
  }
}
