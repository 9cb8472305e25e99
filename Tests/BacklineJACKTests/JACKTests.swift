import BacklineEngine
import BacklineJACK
import BacklineTestSupport
import Testing

/// The tests that need a running server, one after the other.
@Suite("JACK host", .serialized)
struct JACKTests {}

/// A host with what a test wants to see of it.
final class HostUnderTest: Sendable {
  let host: JACKHost
  let events = EventLog<HostEvent>()
  let lines = EventLog<String>()
  let probe = RenderProbe()
  let configuration: HostConfiguration

  init(
    _ name: String = "backline-host", inputs: Int = 2, outputs: Int = 2, server: String = JACKServer.name,
    exactName: Bool = false, policy: JACKConnectPolicy = .none, connections: [JACKConnection] = []
  ) throws {
    configuration = HostConfiguration(
      name: name, inputPorts: (0..<inputs).map { "in_\($0 + 1)" }, outputPorts: (0..<outputs).map { "out_\($0 + 1)" })
    let lines = lines
    host = try JACKHost(
      JACKOptions(
        server: server, exactName: exactName, connectPolicy: policy, connections: connections,
        log: { lines.append($0) }))
  }

  /// Opens and waits for the answer.
  func open() async -> HostEvent? {
    events.clear()
    let events = events
    host.open(configuration, render: probe.render, state: probe.state) { events.append($0) }
    return await events.first { event in
      switch event {
      case .opened, .failed: return true
      default: return false
      }
    }
  }

  /// Opens, starts and waits for the first cycle; the answer to opening.
  func run() async throws -> HostEvent? {
    let answer = await open()
    host.start()
    try #require(await events.first { $0 == .started } != nil, "not started after \(String(describing: answer))")
    return answer
  }

  func close() async -> Bool {
    await withCheckedContinuation { continuation in host.close { continuation.resume(returning: $0) } }
  }

  var wasLost: Bool {
    get async {
      await events.first {
        if case .lost = $0 { return true } else { return false }
      } != nil
    }
  }
}
