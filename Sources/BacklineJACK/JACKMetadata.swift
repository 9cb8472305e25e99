import BacklineEngine
import CJACK
import Synchronization

extension JACKSession {
  /// Gives the ports their order and names for people. The server removes both with the ports. Worker thread.
  ///
  /// The metadata live in a data base that all clients share, whose locks a killed client may have left behind; so this comes
  /// last, when everything else runs.
  func publishMetadata() {
    guard let client, !isLost else { return }
    let handles = ports.withLock { $0 }
    for (ports, names) in [(handles.inputs, portNames.inputs), (handles.outputs, portNames.outputs)] {
      for (index, port) in ports.enumerated() {
        let subject = jack_port_uuid(port)
        jack_set_property(
          client, subject, backline_jack_order_key(), "\(index)", "http://www.w3.org/2001/XMLSchema#int")
        jack_set_property(client, subject, backline_jack_pretty_name_key(), prettyPortName(names[index]), "text/plain")
      }
    }
  }
}

/// A port's name for people: `in_1` is `In 1`.
func prettyPortName(_ name: String) -> String {
  let words = String(name.map { $0 == "_" ? " " : $0 })
  return words.prefix(1).uppercased() + words.dropFirst()
}
