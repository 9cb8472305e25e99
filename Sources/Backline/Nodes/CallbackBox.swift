import CBackline

/// A closure that a unit calls through a C function, so that the render thread neither takes nor gives up references.
final class CallbackBox: @unchecked Sendable {
  // Why unchecked: the rate is written on the control queue while no unit that uses it renders.

  typealias Body = @Sendable (_ box: CallbackBox, _ block: UnsafePointer<RenderBlock>) -> Void

  fileprivate let body: Body
  /// Frames a second of the present unit.
  var sampleRate = 48_000.0

  init(_ body: @escaping Body) { self.body = body }

  /// What the C function gets. The unit keeps the box beside it.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

/// What a closure keeps from call to call, in memory of its own.
final class CallbackState<State: ~Copyable>: @unchecked Sendable {
  // Why unchecked: the closure alone uses it, one call after the other.

  let pointer: UnsafeMutablePointer<State>

  init(_ state: consuming sending State) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: state)
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }
}

/// The C function of every callback unit.
func callBack(_ context: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  Unmanaged<CallbackBox>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.body($0, block) }
}
