/// What the control queue does in the render thread's place, while no host renders.
extension RenderCore {
  /// Does what a host would do at the beginning of a cycle. Only while none renders.
  public mutating func takeInWhileIdle() { takeInIdle() }

  /// Goes on at a quantum edge. Only while nothing renders.
  public mutating func alignFrame() { moveToQuantum() }

  /// Has `crew` render with the host's thread, or nobody. Only while nothing renders; the crew has to outlive its employment.
  public mutating func setCrew(_ crew: UnsafeMutablePointer<RenderCrew>?) { employ(crew) }

  /// Sets the level of all outputs to move from one value to another. Only while nothing renders.
  public mutating func setMaster(_ target: Float, from start: Float, over frames: Int32) {
    moveMaster(target, from: start, over: frames)
  }
}
