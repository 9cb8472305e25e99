/// How a command ended, told to the shell; the numbers are those of sysexits.h.
enum ExitCode: Int32, CaseIterable, Sendable {
  case done = 0
  case wrongUsage = 64
  case badData = 65
  case inputMissing = 66
  case unavailable = 69
  case internalError = 70
  case cannotCreate = 73
  case inputOutput = 74
  case interrupted = 130
  case terminated = 143

  /// What the number means, for the help.
  var summary: String {
    switch self {
    case .done: "done"
    case .wrongUsage: "wrong usage"
    case .badData: "bad data: a preset, audio, or a command that was refused"
    case .inputMissing: "the input is missing"
    case .unavailable: "a service is unavailable: no JACK server, a port is taken, nobody answers"
    case .internalError: "an internal error"
    case .cannotCreate: "the output cannot be created"
    case .inputOutput: "reading or writing failed"
    case .interrupted: "cancelled by SIGINT"
    case .terminated: "cancelled by SIGTERM"
    }
  }
}
