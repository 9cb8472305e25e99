import BacklineOSC
import CBackline

/// `backline meters [--port PORT] [--json]`.
enum MetersCommand {
  /// The readings of meters, as the rack tells them to subscribers.
  static let pattern = "/node/*/{peak,rms}{Left,Right}"
  /// How often the rack tells a level that has changed, in milliseconds.
  static let feedbackMilliseconds: Int32 = 50
  /// Between two drawings in nanoseconds.
  static let interval: Int64 = 100_000_000
  /// Between two subscriptions in nanoseconds. A repeated one asks whether the rack is still there, and lasts over its
  /// restart.
  static let renewal: Int64 = 1_000_000_000

  static func command(wire: any OSCWire) -> ProgramCommand {
    ProgramCommand(.meters) { arguments, context throws(CommandError) in
      let signals = SignalWait()
      let client = try OSCClient(port: arguments.integer(.port) ?? OSCClient.defaultPort, wire: wire)
      try run(client, context, isJSON: arguments.contains(.json)) { signals.hasCome }
      return .done
    }
  }

  /// Shows the levels again and again until `isEnded` is true; throws when the rack does not answer any more.
  static func run(
    _ client: OSCClient, _ context: CommandContext, isJSON: Bool, interval: Int64 = interval,
    renewal: Int64 = renewal, until isEnded: () -> Bool
  ) throws(CommandError) {
    var board = MeterBoard()
    var shown = 0
    var nextRenewal = Int64.min
    var nextDrawing = backline_now() + interval
    while !isEnded() {
      if backline_now() >= nextRenewal || board.isOutdated {
        // A subscription is answered with the present values, so that the board may begin anew where nodes have changed.
        if board.isOutdated { board = MeterBoard() }
        for pattern in ["/graph/changed", pattern] {
          _ = try client.request(OSCMessage("/subscribe", .string(pattern), .int32(feedbackMilliseconds)))
        }
        nextRenewal = backline_now() + renewal
      }
      while let message = try client.nextMessage(until: nextDrawing) { board.take(message) }
      nextDrawing = backline_now() + interval
      if isJSON {
        try context.write(json: board.json)
        continue
      }
      let lines = board.lines(context.terminal)
      let erasing = context.terminal.isTerminal ? Terminal.redraw(over: shown) : ""
      try context.write(erasing + lines.map { $0 + "\n" }.joined())
      shown = lines.count
    }
  }
}
