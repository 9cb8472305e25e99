import CBackline
import CJACK
import Glibc
import Synchronization

/// What happened to ports and connections, by name.
enum PortNotice: Sendable, Equatable {
  case appeared(String)
  case vanished(String)
  case renamed(from: String, to: String)
  case connected(source: String, destination: String)
  case disconnected(source: String, destination: String)
}

/// What JACK's notification callbacks leave for the host's own thread, which they wake.
///
/// The callbacks come from threads of the library's, some while it holds locks of its own; so they only set atomics or add
/// to a list under a lock that nobody holds while calling the library. The shutdown callback, which may even run in a signal
/// handler, sets an atomic and copies bytes.
final class JACKNotices: @unchecked Sendable {
  private static let mostWaiting = 4_096
  private static let reasonCapacity = 256

  let period = Atomic<Int>(0)
  let sampleRate = Atomic<Int>(0)
  let xruns = Atomic<Int>(0)
  let isFreewheeling = Atomic<Bool>(false)
  let isGraphChanged = Atomic<Bool>(false)
  /// True when the server has gone round its clients for their latencies.
  let areLatenciesAsked = Atomic<Bool>(false)
  let isShutDown = Atomic<Bool>(false)
  /// True once the client is being closed: what comes then is no wish of the user's.
  let isClosing = Atomic<Bool>(false)
  /// The kernel's number of the library's notification thread; 0 until it has been met.
  let thread = Atomic<Int32>(0)
  let wakeDescriptor: Int32
  private let reasonBytes: UnsafeMutablePointer<CChar>
  private let waiting = Mutex<[PortNotice]>([])

  init(wakeDescriptor: Int32) {
    self.wakeDescriptor = wakeDescriptor
    reasonBytes = .allocate(capacity: Self.reasonCapacity)
    reasonBytes.initialize(repeating: 0, count: Self.reasonCapacity)
  }

  deinit { reasonBytes.deallocate() }

  /// Why the server went; to be read after `isShutDown` has become true.
  var reason: String {
    let text = String(cString: reasonBytes)
    return text.isEmpty ? "the JACK server has ended" : text
  }

  /// Takes the port notices that wait, in their order.
  func takePorts() -> [PortNotice] {
    waiting.withLock { waiting in
      defer { waiting.removeAll() }
      return waiting
    }
  }

  /// Waits until the library's notification thread has ended, as it does by itself once the server has gone.
  ///
  /// Why: closing a client cancels that thread wherever it is. A server that ends in order has it tell of every client that
  /// goes, under a lock of the library's (1.9.21) that a cancelled thread keeps, and no client of this process could be closed
  /// or opened ever after.
  func waitForThread(nanoseconds: Int64) {
    let id = thread.load(ordering: .relaxed)
    // Never met: it then has little to tell.
    let end = backline_now() + (id == 0 ? min(nanoseconds, 50_000_000) : nanoseconds)
    while backline_now() < end && (id == 0 || access("/proc/self/task/\(id)", F_OK) == 0) { usleep(1_000) }
  }

  func wake() { backline_wake(wakeDescriptor) }

  func add(_ notice: PortNotice) {
    if isClosing.load(ordering: .relaxed) { return }
    // Beyond the limit notices are lost, and with them at worst the memory of a connection; the flood is not ours.
    waiting.withLock { if $0.count < Self.mostWaiting { $0.append(notice) } }
    wake()
  }

  func shutDown(_ reason: UnsafePointer<CChar>?) {
    if let reason {
      let count = min(strlen(reason), Self.reasonCapacity - 1)
      memcpy(reasonBytes, reason, count)
    }
    isShutDown.store(true, ordering: .releasing)
    wake()
  }
}
