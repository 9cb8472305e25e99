import CBackline
import Glibc
import Synchronization

/// The clients that this process has, so that none is opened while others have still to leave a server that has gone.
///
/// Why: jackd2's library (1.9.21) frees all clients of the process that are left when the first of them is opened again after
/// the server's end, in whatever call they are.
final class JACKClients: Sendable {
  static let shared = JACKClients()

  private struct State {
    /// The server's name of each client.
    var open: [ObjectIdentifier: String] = [:]
    /// Those of them whose server has gone.
    var leaving: [ObjectIdentifier: String] = [:]
  }

  /// Seconds that are waited at most: the library may hang in one of the others.
  private static let limit = JACKCore.closingLimit
  private let state = Mutex(State())

  private func key(_ session: JACKSession) -> String { session.options.server ?? "" }

  func opened(_ session: JACKSession) { state.withLock { $0.open[ObjectIdentifier(session)] = key(session) } }

  /// Notes that the server of a client has gone, and with it that of all others which are there now. Any thread.
  func lost(_ session: JACKSession) {
    let server = key(session)
    state.withLock { state in
      for (id, name) in state.open where name == server { state.leaving[id] = name }
    }
  }

  /// Notes that a client has been closed, or that nobody waits for its closing any more. Any thread.
  func closed(_ session: JACKSession) {
    state.withLock { state in
      state.open[ObjectIdentifier(session)] = nil
      state.leaving[ObjectIdentifier(session)] = nil
    }
  }

  /// Waits until all clients of the server's past have been closed, or `session` is no more wanted. Its worker thread.
  func waitForLeaving(before session: JACKSession) {
    let server = key(session)
    let end = backline_now() + Int64(Self.limit * 1e9)
    while state.withLock({ $0.leaving.values.contains(server) }), backline_now() < end,
      !session.notices.isClosing.load(ordering: .relaxed)
    {
      usleep(5_000)
    }
  }
}
