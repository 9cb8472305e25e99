import BacklineJACK
import CJACK

/// The JACK ports that are to be recorded, and what they are connected to a recorder by.
enum RecordPorts {
  /// The connections that bring each of `ports` to the recorder's input of the same number: an output port itself, and for an
  /// input port (what a sound card plays, say) whatever plays into it now.
  static func connections(
    to ports: [String], server: String?, input: (Int) -> String
  ) throws(CommandError) -> [JACKConnection] {
    var status = JackStatus(rawValue: 0)
    jack_set_error_function(ignore)
    jack_set_info_function(ignore)
    guard
      let client = backline_jack_open(
        "backline-ports", JackOptions(rawValue: JackNoStartServer.rawValue), &status, server)
    else {
      throw CommandError(.unavailable, "there is no JACK server to record from: start one, or name it with --server")
    }
    defer { jack_client_close(client) }
    var connections: [JACKConnection] = []
    for (index, name) in ports.enumerated() {
      guard let port = jack_port_by_name(client, name) else {
        throw CommandError(.inputMissing, "there is no JACK port '\(name)': 'jack_lsp' lists them")
      }
      if UInt32(jack_port_flags(port)) & JackPortIsOutput.rawValue != 0 {
        connections.append(JACKConnection(port: input(index), peer: name))
        continue
      }
      guard let sources = jack_port_get_all_connections(client, port) else { continue }
      defer { jack_free(sources) }
      var at = 0
      while let source = sources[at] {
        connections.append(JACKConnection(port: input(index), peer: String(cString: source)))
        at += 1
      }
    }
    return connections
  }
}

private func ignore(_ message: UnsafePointer<CChar>?) {}
