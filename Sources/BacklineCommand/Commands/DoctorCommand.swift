import BacklinePresets

/// `backline doctor [--server NAME] [--json]`.
enum DoctorCommand {
  /// Where the doctor looks; a test gives answers of its own.
  struct Senses: Sendable {
    var rights: @Sendable () -> RealtimeRights
    var system: @Sendable () -> [DoctorFinding]
    var jackLibrary: @Sendable () -> DoctorFinding
    var jack: @Sendable (_ server: String?) -> JACKProbe
    var port: @Sendable (_ port: Int) -> OSCPortProbe

    /// This machine. `wire` is what asks who listens on the port for OSC; without it nobody is asked.
    static func machine(wire: (any OSCWire)?) -> Senses {
      Senses(
        rights: RealtimeRights.current, system: SystemChecks.current, jackLibrary: JACKProbing.libraryFinding,
        jack: JACKProbing.probe, port: { OSCPortProbe.probe(port: $0, wire: wire) })
    }
  }

  static func command(wire: (any OSCWire)?) -> ProgramCommand { command(.machine(wire: wire)) }

  static func command(_ senses: Senses) -> ProgramCommand {
    ProgramCommand(.doctor) { arguments, context throws(CommandError) in
      let server = arguments[.server]
      let port = OSCClient.defaultPort
      let report = DoctorReport(
        findings: senses.rights().findings + senses.system() + [
          senses.jackLibrary(), senses.jack(server).finding(server: server), senses.port(port).finding(port: port),
        ])
      if arguments.contains(.json) {
        try context.write(json: report.json)
      } else {
        try context.write(report.text(context.terminal))
      }
      return report.exitCode
    }
  }
}
