import BacklineRealtime

/// A ramp that is read at quantum edges only, for what is too dear to compute per sample.
///
/// It may start in mid-quantum: the frames from there to the next edge count as part of the ramp.
struct QuantumRamp {
  private var ramp: Ramp
  /// The frames between the ramp's start and the coming edge.
  private var lead: Int32 = 0

  @_noLocks
  init(_ value: Float) { ramp = Ramp(value) }

  /// The value at the end of the present quantum.
  var value: Float { @_noLocks get { ramp.value } }
  var target: Float { @_noLocks get { ramp.target } }
  var isSettled: Bool { @_noLocks get { ramp.isSettled } }

  /// Moves to `target` over `frames` frames from a frame that lies `phase` frames behind a quantum edge.
  @_noLocks
  mutating func move(to target: Float, over frames: Int32, phase: Int32) {
    ramp.move(to: target, over: frames)
    lead = phase == 0 ? 0 : Int32(Quantum.frames) &- phase
  }

  /// At a quantum edge: moves on to the value at the end of the quantum that begins.
  @_noLocks
  mutating func advance() {
    ramp.advance(by: Int32(Quantum.frames) &+ lead)
    lead = 0
  }

  @_noLocks
  mutating func settle() {
    ramp.settle()
    lead = 0
  }
}
