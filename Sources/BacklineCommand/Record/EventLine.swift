import BacklineOSC
import BacklinePresets

/// A command as a line of a list of events, as `--events` reads it.
enum EventLine {
  /// The line without its end.
  static func text(_ message: OSCMessage, frame: Int64) -> String {
    JSONWriter.write(
      [
        "frame": .integer(frame), "address": .string(message.address),
        "arguments": .array(message.arguments.map(value)),
      ], style: .compact)
  }

  private static func value(_ argument: OSCArgument) -> JSONOutput {
    switch argument {
    case .int32(let number): .integer(Int64(number))
    case .int64(let number): .integer(number)
    case .float(let number): .float(number)
    case .double(let number): .double(number)
    case .string(let text), .symbol(let text): .string(text)
    case .true: true
    case .false: false
    // No command takes any of the others.
    default: .null
    }
  }
}
