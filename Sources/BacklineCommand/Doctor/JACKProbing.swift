import BacklineJACK
import CBackline
import CJACK
import Glibc
import Synchronization

/// Asks for a JACK server; never starts one.
enum JACKProbing {
  /// How long the server may take, in nanoseconds.
  static let timeLimit: Int64 = 2_000_000_000

  /// Asks on a thread of its own, since calls to a server that hangs do not return; such a thread is left behind.
  static func probe(server: String?) -> JACKProbe { probe(server: server, timeLimit: timeLimit, ask: ask) }

  /// The same with another way to ask and another limit.
  static func probe(
    server: String?, timeLimit: Int64, ask: @escaping @Sendable (_ server: String?) -> JACKProbe
  ) -> JACKProbe {
    let request = ProbeRequest(server: server, ask: ask)
    var thread = pthread_t()
    let reference = Unmanaged.passRetained(request)
    if pthread_create(&thread, nil, probeThread, reference.toOpaque()) != 0 {
      reference.release()
      return .unanswered
    }
    pthread_detach(thread)
    return request.wait(timeLimit)
  }

  static func libraryFinding() -> DoctorFinding {
    let owner = JACKLibrary.isPipeWire ? "PipeWire's" : "JACK's own"
    return .ok("jackLibrary", "the JACK library is \(owner) (\(JACKLibrary.version))")
  }

  private static func ask(_ server: String?) -> JACKProbe {
    jack_set_error_function(ignoreMessage)
    jack_set_info_function(ignoreMessage)
    var status = JackStatus(rawValue: 0)
    let options = JackOptions(rawValue: JackNoStartServer.rawValue)
    guard let client = backline_jack_open("backline-doctor", options, &status, server) else {
      let isAbsent = status.rawValue & (JackServerFailed.rawValue | JackServerError.rawValue) != 0
      return isAbsent || status.rawValue == JackFailure.rawValue
        ? .noServer : .refused("status \(String(status.rawValue, radix: 16))")
    }
    defer { jack_client_close(client) }
    return .found(
      JACKServerFacts(
        sampleRate: Int(jack_get_sample_rate(client)), period: Int(jack_get_buffer_size(client)),
        isRealtime: jack_is_realtime(client) != 0,
        captureCount: ports(client, UInt(JackPortIsPhysical.rawValue | JackPortIsOutput.rawValue)),
        playbackCount: ports(client, UInt(JackPortIsPhysical.rawValue | JackPortIsInput.rawValue)),
        portCount: ports(client, 0)))
  }

  /// The number of audio ports with all of these flags, of ports of any type where there are none.
  private static func ports(_ client: OpaquePointer, _ flags: UInt) -> Int {
    let type = flags == 0 ? nil : JACK_DEFAULT_AUDIO_TYPE
    guard let names = jack_get_ports(client, nil, type, flags) else { return 0 }
    defer { jack_free(names) }
    var count = 0
    while names[count] != nil { count += 1 }
    return count
  }
}

/// A question and its answer, shared by the two threads.
private final class ProbeRequest: Sendable {
  private let server: String?
  private let ask: @Sendable (String?) -> JACKProbe
  private let answer = Mutex<JACKProbe?>(nil)
  private let event = backline_event_create()

  init(server: String?, ask: @escaping @Sendable (String?) -> JACKProbe) {
    self.server = server
    self.ask = ask
  }

  deinit { close(event) }

  func run() {
    let probe = ask(server)
    answer.withLock { $0 = probe }
    backline_wake(event)
  }

  func wait(_ nanoseconds: Int64) -> JACKProbe {
    let end = backline_now() + nanoseconds
    while true {
      if let probe = answer.withLock({ $0 }) { return probe }
      let rest = end - backline_now()
      if rest <= 0 { return .unanswered }
      var ready = pollfd(fd: event, events: Int16(POLLIN), revents: 0)
      poll(&ready, 1, Int32((rest + 999_999) / 1_000_000))
    }
  }
}

private func probeThread(_ request: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let request else { return nil }
  Unmanaged<ProbeRequest>.fromOpaque(request).takeRetainedValue().run()
  return nil
}

/// The library would write to standard error what the finding says.
private func ignoreMessage(_ message: UnsafePointer<CChar>?) {}
