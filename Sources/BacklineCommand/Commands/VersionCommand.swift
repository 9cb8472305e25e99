import BacklinePresets

/// `backline version [--json]`.
enum VersionCommand {
  /// The version of Backline (semver.org).
  static let version = "0.1.0"

  static func command() -> ProgramCommand {
    ProgramCommand(.version) { arguments, context throws(CommandError) in
      if arguments.contains(.json) {
        try context.write(json: ["name": "backline", "version": .string(version)])
      } else {
        try context.write("backline \(version)\n")
      }
      return .done
    }
  }
}
