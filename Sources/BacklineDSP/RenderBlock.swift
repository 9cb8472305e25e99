import CBackline

extension RenderBlock {
  /// The samples of a channel of an input bus.
  @inlinable @inline(__always) @_noLocks
  public func input(_ bus: Int, _ channel: Int) -> UnsafePointer<Float> {
    UnsafePointer(inputs.unsafelyUnwrapped[bus].channels[channel])
  }

  /// The samples of a channel of an output bus.
  @inlinable @inline(__always) @_noLocks
  public func output(_ bus: Int, _ channel: Int) -> UnsafeMutablePointer<Float> {
    outputs.unsafelyUnwrapped[bus].channels[channel]
  }

  /// True when something is connected to the input bus.
  @inlinable @inline(__always) @_noLocks
  public func isConnected(_ bus: Int) -> Bool { inputs.unsafelyUnwrapped[bus].isConnected }
}
