import CJACK
import Glibc
import Synchronization

/// A small client that plays samples into ports and records samples from ports, exact to the sample.
///
/// Its own ports are `out_1`, `out_2`, … and `in_1`, `in_2`, …. Memory is allocated before a take begins. A client that
/// sends into another one and records its answer closes a ring, in which JACK inserts a period: use two clients where
/// that matters.
public final class JACKTestClient: @unchecked Sendable {
  public let name: String
  private let client: OpaquePointer
  private let state: UnsafeMutablePointer<ClientState>
  private var isOpen = true

  /// Opens and activates a client. With `addedLatency`, it declares so many frames between its inputs and outputs.
  public init(
    _ name: String, server: String = JACKServer.name, inputs: Int = 0, outputs: Int = 0, addedLatency: Int? = nil
  ) throws(JACKTestError) {
    // The library's chatter would bury the tests' own output.
    jack_set_error_function(ignoreMessage)
    jack_set_info_function(ignoreMessage)
    var status = JackStatus(0)
    let flags = JackOptions(JackNoStartServer.rawValue | JackUseExactName.rawValue)
    var opened = backline_jack_open(name, flags, &status, server)
    // PipeWire gives up where it is not answered at once.
    for _ in 0..<5 where opened == nil && status.rawValue & JackInitFailure.rawValue != 0 {
      opened = backline_jack_open(name, flags, &status, server)
    }
    guard let client = opened else {
      throw .clientDidNotOpen("\(name), status \(status.rawValue)")
    }
    self.client = client
    self.name = name
    let register = { (prefix: String, count: Int, direction: JackPortFlags) -> [OpaquePointer] in
      (0..<count).compactMap {
        jack_port_register(client, "\(prefix)_\($0 + 1)", JACK_DEFAULT_AUDIO_TYPE, UInt(direction.rawValue), 0)
      }
    }
    state = .allocate(capacity: 1)
    state.initialize(
      to: ClientState(
        inputs: register("in", inputs, JackPortIsInput), outputs: register("out", outputs, JackPortIsOutput),
        addedLatency: addedLatency))
    jack_set_process_callback(client, processTestClient, state)
    jack_set_xrun_callback(client, countTestXrun, state)
    if addedLatency != nil { jack_set_latency_callback(client, answerTestLatency, state) }
    guard jack_activate(client) == 0 else {
      jack_client_close(client)
      throw .clientDidNotOpen("\(name) was not activated")
    }
  }

  deinit {
    close()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Closes the client; before the server ends.
  public func close() {
    if !isOpen { return }
    isOpen = false
    jack_deactivate(client)
    jack_client_close(client)
  }

  // MARK: Sound

  /// Plays one channel into each port from the next cycle on, once or again and again. Replaces what was played before.
  ///
  /// With `recording`, it begins only when that has `frames` frames, so that both stay together however fast the server runs.
  public func play(
    _ channels: [[Float]], into ports: [String], repeats: Bool = false, after recording: JACKRecording? = nil,
    frames: Int = 0
  ) throws(JACKTestError) {
    for (index, port) in ports.enumerated() { try connect("\(name):out_\(index + 1)", port) }
    let take = Take(channels, repeats: repeats, after: recording?.take, frames: frames)
    state.pointee.keep(take)
    state.pointee.playing.store(take.pointer, ordering: .releasing)
  }

  /// Begins to record from each port, from the next cycle on.
  public func startRecording(from ports: [String], frames: Int) throws(JACKTestError) -> JACKRecording {
    for (index, port) in ports.enumerated() { try connect(port, "\(name):in_\(index + 1)") }
    let take = Take(ports.map { _ in [Float](repeating: 0, count: frames) }, repeats: false)
    state.pointee.keep(take)
    state.pointee.recording.store(take.pointer, ordering: .releasing)
    return JACKRecording(take)
  }

  /// Records from each port, from the next cycle on.
  public func record(from ports: [String], frames: Int, within seconds: Double = 20) async throws -> [[Float]] {
    try await startRecording(from: ports, frames: frames).samples(within: seconds)
  }

  /// The server's xruns since this client was opened.
  public var xruns: Int { state.pointee.xruns.load(ordering: .relaxed) }

  /// The server's period in frames.
  public var period: Int { Int(jack_get_buffer_size(client)) }

  /// Changes the server's period.
  public func setPeriod(_ frames: Int) { jack_set_buffer_size(client, jack_nframes_t(frames)) }

  /// Has the server run as fast as it can, or in real time again.
  public func setFreewheel(_ isOn: Bool) { jack_set_freewheel(client, isOn ? 1 : 0) }

  // MARK: Ports

  /// The full names of all ports of a client, in the server's order.
  public func ports(of client: String) -> [String] {
    names(jack_get_ports(self.client, "^\(client):", nil, 0))
  }

  /// The full names of the ports that a port is connected to.
  public func connections(of port: String) -> [String] {
    guard let port = jack_port_by_name(client, port) else { return [] }
    return names(jack_port_get_all_connections(client, port)).sorted()
  }

  public func connect(_ source: String, _ destination: String) throws(JACKTestError) {
    // A port is announced before it can be connected, so a refusal is not the last word for a while.
    for _ in 0..<100 {
      if connections(of: source).contains(destination) || jack_connect(client, source, destination) == 0 { return }
      usleep(10_000)
    }
    throw .notConnected(source, destination)
  }

  public func disconnect(_ source: String, _ destination: String) {
    jack_disconnect(client, source, destination)
  }

  /// The latency of a port in frames: to the capture side or to the playback side.
  public func latency(of port: String, capture isCapture: Bool) -> ClosedRange<Int>? {
    guard let port = jack_port_by_name(client, port) else { return nil }
    var range = jack_latency_range_t()
    jack_port_get_latency_range(port, isCapture ? JackCaptureLatency : JackPlaybackLatency, &range)
    return range.min <= range.max ? Int(range.min)...Int(range.max) : nil
  }

  /// Has the server ask all clients for their latencies.
  public func recomputeLatencies() { jack_recompute_total_latencies(client) }

  /// A property of a port from JACK's metadata.
  public func property(_ key: String, of port: String) -> String? {
    guard let port = jack_port_by_name(client, port) else { return nil }
    var value: UnsafeMutablePointer<CChar>?
    var type: UnsafeMutablePointer<CChar>?
    guard jack_get_property(jack_port_uuid(port), key, &value, &type) == 0, let value else { return nil }
    defer {
      jack_free(value)
      jack_free(type)
    }
    return String(cString: value)
  }

  private func names(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
    guard let list else { return [] }
    defer { jack_free(list) }
    var result: [String] = []
    while let name = list[result.count] { result.append(String(cString: name)) }
    return result
  }
}
