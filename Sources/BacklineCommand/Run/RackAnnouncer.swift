import BacklineEngine
import BacklinePresets
import CBackline
import Synchronization

/// Says on standard output what programs wait for, and on standard error what people read.
final class RackAnnouncer: Sendable {
  private let context: CommandContext
  private let json: Bool
  private let lastLimited = Mutex(Int64.min / 2)

  init(_ context: CommandContext, json: Bool) {
    self.context = context
    self.json = json
  }

  /// The one line that says that the rack is there.
  func ready(name: String, host: String, state: EngineState, rate: Int, period: Int, port: Int) {
    if json {
      write(json: [
        "ready": true, "name": .string(name), "host": .string(host), "state": .string(state.name),
        "rate": .integer(Int64(rate)), "period": .integer(Int64(period)), "osc": .integer(Int64(port)),
      ])
    } else {
      write("ready name=\(name) host=\(host) state=\(state.name) rate=\(rate) period=\(period) osc=\(port)\n")
    }
  }

  /// A later change of state.
  func state(_ state: EngineState) {
    if json {
      write(json: ["state": .string(state.name), "cause": .string(state.cause)])
    } else {
      write(state.cause.isEmpty ? "state \(state.name)\n" : "state \(state.name) \(state.cause)\n")
    }
  }

  /// A line for people.
  func log(_ line: String) {
    try? context.errors.write("backline: \(SafeText.line(line))\n")
  }

  /// A line for people that may come often: one a second at most.
  func logLimited(_ line: String) {
    let now = backline_now()
    let passes = lastLimited.withLock { last in
      if now - last < 1_000_000_000 { return false }
      last = now
      return true
    }
    if passes { log(line) }
  }

  // Whoever has closed our standard output does not want to know; the sound goes on.
  private func write(_ text: String) { try? context.write(text) }
  private func write(json value: JSONOutput) { try? context.write(JSONWriter.write(value, style: .compact) + "\n") }
}
