import Synchronization

/// Whether a unit is bypassed, kept while it belongs to no engine.
final class BypassState: Sendable {
  private let flag = Atomic<Bool>(false)

  var isBypassed: Bool {
    get { flag.load(ordering: .relaxed) }
    set { flag.store(newValue, ordering: .relaxed) }
  }
}
