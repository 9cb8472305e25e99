import BacklineEngine
import Glibc
import Synchronization

/// An engine's state as any thread may read it and wait for it, and those who watch.
final class EngineLife: @unchecked Sendable {
  // Why unchecked: what changes is under the lock or atomic.

  private var lock = pthread_mutex_t()
  private var changed = pthread_cond_t()
  private var present = EngineState.stopped
  private var observers: [@Sendable (AudioEngineEvent) -> Void] = []
  private var courier: Courier?
  /// The live host, kept from its first use on.
  private var liveHost: (any AudioHost)?

  /// Counts what has been changed and may not have been published yet.
  let changes = Atomic<Int>(0)
  /// The kernel's frame that the engine's timeline counts from.
  let timelineBase = Atomic<Int64>(0)
  let epoch = Atomic<Int>(0)
  /// Frames from a source to where sound has left the engine, at most.
  let heardLatency = Atomic<Int>(0)
  let sampleRate = Atomic<UInt64>(48_000.0.bitPattern)

  init() {
    pthread_mutex_init(&lock, nil)
    pthread_cond_init(&changed, nil)
  }

  deinit {
    pthread_mutex_destroy(&lock)
    pthread_cond_destroy(&changed)
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(&lock)
    defer { pthread_mutex_unlock(&lock) }
    return body()
  }

  var state: EngineState { locked { present } }

  var host: (any AudioHost)? {
    get { locked { liveHost } }
    set { locked { liveHost = newValue } }
  }

  /// Frames that sound takes outside of the engine; none while the live host is closed.
  var outsideLatencies: (input: Int, output: Int) {
    let latencies = host?.outsideLatencies ?? (input: 0, output: 0)
    return (max(0, min(latencies.input, Self.longestWay)), max(0, min(latencies.output, Self.longestWay)))
  }

  /// The most frames outside that can be believed: a minute at the highest rate.
  private static let longestWay = 46_080_000

  /// Waits until the state is one that `matches`; false where it was not within `seconds`.
  func wait(_ seconds: Int, _ matches: (EngineState) -> Bool) -> Bool {
    var limit = timespec()
    clock_gettime(CLOCK_REALTIME, &limit)
    limit.tv_sec += seconds
    return locked {
      while !matches(present) {
        if pthread_cond_timedwait(&changed, &lock, &limit) == ETIMEDOUT { return matches(present) }
      }
      return true
    }
  }

  /// Has `observer` called on the courier's thread.
  func observe(_ courier: Courier, _ observer: @escaping @Sendable (AudioEngineEvent) -> Void) {
    locked {
      observers.append(observer)
      self.courier = courier
    }
  }

  /// Takes an event of the kernel's. Control queue.
  func take(_ event: EngineEvent) {
    let told: AudioEngineEvent
    switch event {
    case .stateChanged(let state):
      locked {
        present = state
        pthread_cond_broadcast(&changed)
      }
      told = .stateChanged(AudioEngineState(state))
    case .configurationChanged(let cause, let old, let new, let epoch):
      self.epoch.store(epoch, ordering: .relaxed)
      if cause == "sampleRate" { sampleRate.store(Double(new).bitPattern, ordering: .relaxed) }
      told = .configurationChanged(cause: cause, old: old, new: new, epoch: epoch)
    case .nonFinite(let node):
      told = .nonFinite(node: node)
    default:
      return
    }
    let (observers, courier) = locked { (self.observers, self.courier) }
    if observers.isEmpty { return }
    courier?.run { for observer in observers { observer(told) } }
  }
}
