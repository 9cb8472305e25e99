/// Ways into the engine for code that is not asynchronous.
extension Engine {
  /// Runs `body` as part of the engine, at once: for code that is on the control queue already, such as a socket's handler.
  public nonisolated func here<Value>(_ body: (isolated Engine) -> Value) -> Value {
    executor.checkIsolated()
    return withoutActuallyEscaping(body) { escaping in
      // Why: what `assumeIsolated` does, for values that need not be Sendable since they stay here.
      unsafeBitCast(escaping, to: ((Engine) -> Value).self)(self)
    }
  }

  /// The same for what throws, with the error's type kept.
  public nonisolated func hereThrowing<Value, Failure: Error>(
    _ body: (isolated Engine) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    executor.checkIsolated()
    return try withoutActuallyEscaping(body) { escaping throws(Failure) in
      try unsafeBitCast(escaping, to: ((Engine) throws(Failure) -> Value).self)(self)
    }
  }

  /// Runs `body` as part of the engine and waits for it: for code on any thread but a render thread. Jobs run in the order
  /// in which they come, each as a whole.
  public nonisolated func wait<Value, Failure: Error>(
    _ body: (isolated Engine) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if executor.isCurrent { return try hereThrowing(body) }
    return try withoutActuallyEscaping(body) { escaping throws(Failure) in
      // Why: this thread waits until the body has run, so nothing is used by two threads at once.
      let meeting = Meeting(unsafeBitCast(escaping, to: ((Engine) throws(Failure) -> Value).self))
      executor.schedule(after: 0) { [self] in
        meeting.run(self)
        meeting.end()
      }
      return try meeting.wait()
    }
  }
}

/// Where one thread waits for another's result.
private final class Meeting<Value, Failure: Error>: @unchecked Sendable {
  // Why unchecked: one thread uses it until it ends, the other from then on.

  private let signal = Semaphore()
  private var body: ((Engine) throws(Failure) -> Value)?
  /// Written by `run`, which comes before the signal that `wait` waits for.
  private let result = UnsafeMutablePointer<Result<Value, Failure>>.allocate(capacity: 1)

  init(_ body: @escaping (Engine) throws(Failure) -> Value) { self.body = body }

  deinit { result.deallocate() }

  /// Runs the body, once, and has let go of it when this returns.
  func run(_ engine: Engine) {
    guard let body else { return }
    self.body = nil
    do throws(Failure) {
      result.initialize(to: .success(try body(engine)))
    } catch {
      result.initialize(to: .failure(error))
    }
  }

  func end() { signal.signal() }

  /// Waits for the body's end and takes what it gave. Once.
  func wait() throws(Failure) -> Value {
    signal.wait()
    return try result.move().get()
  }
}
