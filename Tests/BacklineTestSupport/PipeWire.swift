import CBackline
import CJACK
import Foundation

/// PipeWire in the place of a JACK server, without a sound card, a session manager or a bus: for test processes that
/// `pw-jack` has given PipeWire's own JACK library.
enum PipeWire {
  /// True where BACKLINE_TEST_JACK is `pipewire`.
  static let isUsed = ProcessInfo.processInfo.environment["BACKLINE_TEST_JACK"] == "pipewire"

  /// Writes what the daemon is to do: one clock without hardware, of a fixed rate, and a period to begin with.
  ///
  /// Its sockets are in XDG_RUNTIME_DIR, where the library looks for them.
  static func writeConfiguration(name: String, sampleRate: Int, period: Int) throws -> String {
    let text = """
      context.properties = {
        core.daemon = true
        core.name = \(name)
        support.dbus = false
        log.level = 0
        default.clock.rate = \(sampleRate)
        default.clock.allowed-rates = [ \(sampleRate) ]
        default.clock.quantum = \(period)
        default.clock.min-quantum = 16
        default.clock.max-quantum = 8192
        default.clock.quantum-limit = 8192
      }
      context.spa-libs = { support.* = support/libspa-support }
      context.modules = [
        { name = libpipewire-module-rt args = { rt.prio = 70 } flags = [ ifexists nofail ] }
        { name = libpipewire-module-protocol-native }
        { name = libpipewire-module-metadata }
        { name = libpipewire-module-spa-node-factory }
        { name = libpipewire-module-client-node }
        { name = libpipewire-module-access }
        { name = libpipewire-module-link-factory }
      ]
      context.objects = [
        { factory = metadata args = { metadata.name = default } }
        { factory = spa-node-factory args = {
          factory.name = support.node.driver node.name = clock node.group = pipewire.dummy priority.driver = 20000
        } }
      ]
      """
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(name).pipewire.conf").path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Has all run at another period.
  static func setPeriod(_ frames: Int, server: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "pw-metadata", "-r", server, "-n", "settings", "0", "clock.force-quantum", "\(frames)",
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
  }
}

/// The ports that a sound card would have: a client called `system`, which is silent and hears nothing.
final class SilentCard {
  private let client: OpaquePointer

  init(server: String) throws(JACKTestError) {
    var status = JackStatus(0)
    guard let client = backline_jack_open("system", JackNoStartServer, &status, server) else {
      throw .clientDidNotOpen("system, status \(status.rawValue)")
    }
    self.client = client
    let physical = JackPortIsPhysical.rawValue | JackPortIsTerminal.rawValue
    for channel in 1...2 {
      for (name, direction) in [("capture", JackPortIsOutput), ("playback", JackPortIsInput)] {
        jack_port_register(
          client, "\(name)_\(channel)", JACK_DEFAULT_AUDIO_TYPE, UInt(direction.rawValue | physical), 0)
      }
    }
    jack_activate(client)
  }

  func close() { jack_client_close(client) }
}
