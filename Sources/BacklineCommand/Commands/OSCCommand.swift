import BacklineOSC

/// `backline osc [--port PORT] ADDRESS [VALUE ...]`.
enum OSCCommand {
  static func command(wire: any OSCWire) -> ProgramCommand {
    ProgramCommand(.osc) { arguments, context throws(CommandError) in
      let message = try message(arguments[.address] ?? "", arguments.all(.values))
      let client = try OSCClient(port: arguments.integer(.port) ?? OSCClient.defaultPort, wire: wire)
      for answer in try client.request(message) { try context.write(line(answer)) }
      return .done
    }
  }

  /// The message that the words stand for.
  static func message(_ address: String, _ values: [String]) throws(CommandError) -> OSCMessage {
    if !address.hasPrefix("/") { throw .usage("'\(address)' is no OSC address: one begins with '/'") }
    if address == "/id" { throw .usage("/id is added to each command here: give the command's own address") }
    var arguments: [OSCArgument] = []
    for value in values { arguments.append(try OSCArgumentText.parse(value)) }
    return OSCMessage(address, arguments)
  }

  /// An answer on one line.
  static func line(_ answer: OSCMessage) -> String {
    ([SafeText.line(answer.address)] + answer.arguments.map(OSCArgumentText.show)).joined(separator: " ") + "\n"
  }
}
