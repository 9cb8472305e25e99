import BacklineDSP
import BacklineEngine
import CBackline
import Synchronization

/// A thread on which an engine's callers are called back, so that they may do what they like: wait for the engine, stop it,
/// let it go. The render thread wakes it through `signal`.
final class Courier: @unchecked Sendable {
  // Why unchecked: the signal's memory is used through atomics alone, and whether it rests is the thread's own.

  /// Looks for something to tell, and says whether it goes on coming; called on the courier's thread whenever it has been woken.
  typealias Round = @Sendable () -> Bool

  let signal: UnsafeMutablePointer<WakeSignal>
  private let thread: SerialThread
  private let rounds = Mutex<[ObjectIdentifier: Round]>([:])
  private var isResting = false

  /// Seconds between two looks at what the render thread has left, where it leaves something all the time.
  private static let rest = 0.002

  init(name: String) throws(AudioError) {
    let box = WeakBox<Courier>()
    do throws(EngineError) {
      thread = try SerialThread(name: name) { box.value?.makeRounds() }
    } catch {
      throw AudioError(error)
    }
    signal = .allocate(capacity: 1)
    signal.initialize(to: WakeSignal(descriptor: thread.wakeDescriptor))
    box.value = self
  }

  deinit {
    thread.end()
    signal.deinitialize(count: 1)
    signal.deallocate()
  }

  /// Has `round` made whenever the thread is woken, until `remove`.
  func add(_ owner: AnyObject, _ round: @escaping Round) {
    let key = ObjectIdentifier(owner)
    rounds.withLock { $0[key] = round }
  }

  func remove(_ owner: AnyObject) {
    let key = ObjectIdentifier(owner)
    _ = rounds.withLock { $0.removeValue(forKey: key) }
  }

  /// Calls `work` on the thread.
  func run(_ work: @escaping @Sendable () -> Void) { thread.run(work) }

  func run(after seconds: Double, _ work: @escaping @Sendable () -> Void) { thread.run(after: seconds, work) }

  /// True on the courier's thread.
  var isCurrent: Bool { thread.isCurrent }

  /// Has a round made soon. Any thread.
  func wake() { signal.pointee.raise() }

  /// An eventfd whose increase wakes the thread.
  var wakeDescriptor: Int32 { thread.wakeDescriptor }

  /// Looks around, and again after a rest for as long as there is something: what comes meanwhile needs no waking. Without that, each of
  /// many taps would make a system call in each cycle.
  private func makeRounds() {
    _ = lookAround()
    if isResting { return }
    isResting = true
    lookLater()
  }

  /// Looks again until nothing comes and nobody has called. The last look comes a rest after the signal was cleared: a sender that found
  /// it still set has been heard by then.
  private func lookLater() {
    thread.run(after: Self.rest) { [weak self] in
      guard let self else { return }
      if lookAround() || signal.pointee.isPending.exchange(false, ordering: .acquiringAndReleasing) {
        lookLater()
      } else {
        isResting = false
      }
    }
  }

  /// True where something goes on coming.
  private func lookAround() -> Bool {
    rounds.withLock { Array($0.values) }.reduce(false) { $1() || $0 }
  }
}
