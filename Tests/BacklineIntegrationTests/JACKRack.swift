import BacklineOSC
import BacklineTestSupport
import CBackline
import Foundation
import Testing

@testable import BacklineCommand

/// The tests of the whole program on a real JACK server, one after the other.
@Suite("The rack on JACK", .serialized)
struct JACKRackTests {
  /// Whether rounds have the length that the reports ask for, rather than one that a check before every commit can bear.
  static var isLong: Bool { ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1" }
}

/// A `backline run` of its own, with a client for its OSC.
final class JACKRack {
  /// How long an answer of the program may take, in seconds, on a machine that is busy with other things.
  static let patience = 20.0

  let runner: ProcessRunner
  /// The ready line by its keys; empty with `--json`.
  let ready: [String: String]
  let readyLine: String
  let port: Int
  private let client: OSCClient

  /// Starts the program and waits for its ready line.
  init(
    _ words: [String] = [], name: String = "rack", server: String = JACKServer.name, host: String = "jack",
    root: String? = nil
  ) throws {
    let arguments =
      ["run"] + words + ["--name", name, "--server", server, "--host", host, "--osc-port", "0"]
      + (root.map { ["--root", $0] } ?? [])
    runner = try ProcessRunner(try BuiltProgram.backline(), arguments)
    readyLine = try #require(try runner.readLine(Self.patience), "ended before it was ready")
    if readyLine.hasPrefix("{") {
      ready = [:]
      let object = try JSONSerialization.jsonObject(with: Data(readyLine.utf8)) as? [String: Any]
      port = try #require(object?["osc"] as? Int)
    } else {
      let pairs = readyLine.split(separator: " ").dropFirst().map {
        $0.split(separator: "=", maxSplits: 1).map(String.init)
      }
      ready = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") })
      port = try #require(ready["osc"].flatMap(Int.init), "no port in: \(readyLine)")
    }
    client = try OSCClient(port: port, wire: PacketWire())
  }

  // MARK: OSC

  /// The arguments of a command's final answer. Throws where it is refused or unanswered.
  @discardableResult
  func ask(_ address: String, _ arguments: OSCArgument...) throws -> [OSCArgument] {
    try ask(OSCMessage(address, arguments))
  }

  @discardableResult
  func ask(_ message: OSCMessage) throws -> [OSCArgument] {
    try client.request(message, timeLimit: Int64(Self.patience * 1e9)).last?.arguments ?? []
  }

  /// The status by its keys.
  func status() throws -> [String: OSCArgument] {
    let values = try ask("/status")
    var result: [String: OSCArgument] = [:]
    for index in stride(from: 0, to: values.count - 1, by: 2) {
      if case .string(let key) = values[index] { result[key] = values[index + 1] }
    }
    return result
  }

  /// A counter or another whole number of the status.
  func count(_ key: String) throws -> Int {
    switch try status()[key] {
    case .int32(let value)?: return Int(value)
    case .int64(let value)?: return Int(value)
    case let other: throw UnexpectedStatus(key: key, value: other)
    }
  }

  /// A word of the status.
  func word(_ key: String) throws -> String {
    guard case .string(let word)? = try status()[key] else { throw UnexpectedStatus(key: key, value: nil) }
    return word
  }

  /// The rack's own late cycles and the gaps that the server has told it of.
  func lateness() throws -> [Int] { [try count("ownLate"), try count("serverXruns")] }

  // MARK: Lines and the end

  /// Reads standard output until a line that `matches`; the line.
  func line(within seconds: Double = JACKRack.patience, _ matches: (String) -> Bool) throws -> String {
    let end = backline_now() + Int64(seconds * 1e9)
    while let line = try runner.readLine(max(0.01, Double(end - backline_now()) * 1e-9)) {
      if matches(line) { return line }
    }
    throw JACKTestError.timedOut("a line")
  }

  /// Waits until the rack says in its status that it is in a state.
  func waits(for state: String, within seconds: Double = JACKRack.patience) async throws -> Bool {
    try await Eventually.holds(within: seconds) { try word("state") == state }
  }

  /// Asks for the end over OSC; the exit code.
  @discardableResult
  func quit() throws -> Int32 {
    try ask("/quit")
    return try runner.wait(JACKRack.patience).status
  }

  // MARK: The process

  /// What the process alone holds of memory that it has written to, in bytes.
  func privateMemory() throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(runner.id)/smaps_rollup", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Private_Dirty:") })
    return 1024 * (Int(line.split(separator: " ")[1]) ?? 0)
  }

  /// How many threads and open descriptors the process has.
  func resources() throws -> (threads: Int, descriptors: Int) {
    let files = FileManager.default
    return (
      try files.contentsOfDirectory(atPath: "/proc/\(runner.id)/task").count,
      try files.contentsOfDirectory(atPath: "/proc/\(runner.id)/fd").count
    )
  }

  /// The processor time that the process has used, in seconds.
  func processorTime() throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(runner.id)/stat", encoding: .utf8)
    // The name in parentheses may have spaces; user and system time are the 12th and 13th field after it.
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    return (Double(fields[12]) ?? 0) / 100 + (Double(fields[13]) ?? 0) / 100
  }
}

/// The status has no such number.
struct UnexpectedStatus: Error {
  let key: String
  let value: OSCArgument?
}
