import Synchronization

/// A weak reference that a handler can be given before the object that it is for exists.
public final class WeakBox<Object: AnyObject & Sendable>: Sendable {
  private struct Reference: Sendable { weak var object: Object? }

  private let reference = Mutex(Reference())

  /// An empty box.
  public init() {}

  /// The object, while it lives.
  public var value: Object? {
    get { reference.withLock { $0.object } }
    set { reference.withLock { $0.object = newValue } }
  }
}
