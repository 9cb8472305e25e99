import BacklineEngine
import CJACK
import Glibc

extension JACKSession {
  /// The most ports in one direction.
  static let mostPorts = 64
  /// The most bytes of a client's name; the server refuses longer ones without saying why.
  static let longestName = 63

  /// How often a client is opened anew because of one that left at the wrong moment.
  private static let mostOpenings = 3

  /// Refuses what the server would refuse less clearly.
  static func check(_ configuration: HostConfiguration) throws(HostFailure) {
    let name = configuration.name
    guard (1...longestName).contains(name.utf8.count) else {
      throw .refused("a JACK client name has 1 to \(longestName) bytes; \"\(name)\" has \(name.utf8.count)")
    }
    guard !name.contains(":"), !name.utf8.contains(0) else {
      throw .refused("a JACK client name cannot contain \":\" or a zero byte")
    }
    for ports in [configuration.inputPorts, configuration.outputPorts] where ports.count > mostPorts {
      throw .refused("at most \(mostPorts) JACK ports each way, not \(ports.count)")
    }
    var seen: Set<String> = []
    for port in configuration.inputPorts + configuration.outputPorts {
      guard !port.isEmpty, !port.utf8.contains(0) else { throw .refused("a JACK port needs a name") }
      guard seen.insert(port).inserted else { throw .refused("two JACK ports are named \"\(port)\"") }
    }
  }

  /// Opens the client, never starting a server. Opens it again where the library holds on to a client that has left
  /// meanwhile.
  func openClient(reclaimsName: Bool) throws(HostFailure) -> OpaquePointer {
    JACKMessages.shared.install()
    for _ in 0..<Self.mostOpenings {
      let client = try openOnce(reclaimsName: reclaimsName)
      if !JACKLibrary.holdsDeparted() { return client }
      jack_client_close(client)
    }
    return try openOnce(reclaimsName: reclaimsName)
  }

  private func openOnce(reclaimsName: Bool) throws(HostFailure) -> OpaquePointer {
    if reclaimsName && !options.exactName {
      for _ in 0..<10 {
        switch attempt(exactName: true) {
        case .opened(let client): return client
        case .failed(let failure): throw failure
        case .nameTaken: usleep(100_000)
        }
      }
    }
    switch attempt(exactName: options.exactName) {
    case .opened(let client): return client
    case .failed(let failure): throw failure
    case .nameTaken:
      throw .refused("the client name \"\(configuration.name)\" is taken on the JACK server")
    }
  }

  private enum Attempt {
    case opened(OpaquePointer)
    case nameTaken
    case failed(HostFailure)
  }

  /// Tries once. JackUseExactName is of no use here: with it, jackd2 answers a taken name with the status of a server that
  /// does not work. So a client that got another name is closed again.
  private func attempt(exactName: Bool) -> Attempt {
    var status = JackStatus(0)
    if let client = backline_jack_open(configuration.name, JackNoStartServer, &status, options.server) {
      if !exactName || String(cString: jack_get_client_name(client)) == configuration.name { return .opened(client) }
      jack_client_close(client)
      return .nameTaken
    }
    func has(_ bit: JackStatus) -> Bool { status.rawValue & bit.rawValue != 0 }
    let server = options.server.map { "JACK server \"\($0)\"" } ?? "JACK server"
    if has(JackServerFailed) { return .failed(.noServer("no \(server) runs")) }
    if has(JackVersionError) { return .failed(.refused("the \(server) has another protocol version")) }
    // The last is PipeWire's word for an answer that has not come in time.
    if has(JackServerError) || has(JackShmFailure) || has(JackInitFailure) {
      return .failed(.noServer("the \(server) does not answer"))
    }
    let detail = JACKMessages.shared.recent.last.map { ": \($0)" } ?? ""
    return .failed(.refused("the \(server) refused the client \"\(configuration.name)\"\(detail)"))
  }

  /// Registers audio ports under their short names.
  func registerPorts(
    _ client: OpaquePointer, _ names: [String], _ direction: JackPortFlags
  ) throws(HostFailure) -> [OpaquePointer] {
    var ports: [OpaquePointer] = []
    for name in names {
      guard let port = jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(direction.rawValue), 0) else {
        throw .refused("the JACK server refused the port \"\(name)\"")
      }
      ports.append(port)
    }
    return ports
  }
}
