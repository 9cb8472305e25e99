import BacklineDSP
import BacklineOSC
import BacklinePresets
import CBackline
import Glibc

/// Sixty-four tracks of a running rack on their way to the disk.
extension Bench {
  private static let trackCount = 64
  private static let clientName = "bench-recording"
  private static let port: UInt16 = 57_411

  /// JACK's load with 64 inputs, without and with a recording of each of them into a file of its own (32-bit floating point), while
  /// another program keeps a processor busy; frames that the disk and the server have cost; memory.
  func measureRecording(_ report: inout Report) throws {
    var table = Report.Table(
      title: "\(Self.trackCount) tracks recorded, a file each, beside a busy program",
      columns: [
        "frames", "load without", "load with", "more", "processor % more", "seconds recorded", "lost to the disk",
        "to the server", "private dirty MiB",
      ])
    for frames in options.frames {
      let jack = try JACKServer(frames: frames)
      for _ in 0..<options.repeats { table.rows.append(try record(jack)) }
    }
    report.add(table)
  }

  private func record(_ jack: JACKServer) throws -> [Report.Cell] {
    let folder = "/tmp/backline-bench-recording-\(getpid())"
    guard mkdir(folder, 0o700) == 0 else { throw BenchError("\(folder) cannot be made") }
    let tracks = (1...Self.trackCount).map { "in_\($0)" }
    defer {
      for name in tracks.indices.map({ "takes/input-\($0).wav" }) + ["rack.json", "source.json", "takes", ""] {
        remove("\(folder)/\(name)")
      }
    }
    let preset = "\(folder)/rack.json", noise = "\(folder)/source.json"
    try PresetFile.save(
      Preset(
        name: "tracks", ports: .init(inputs: tracks.map { [$0] }, outputs: [["out_1", "out_2"]]), nodes: [],
        connections: []), to: preset, catalog: .standard)
    try PresetFile.save(
      Preset(
        name: "source", nodes: [.init("noise", kind: "noise", parameters: ["gain": -26])],
        connections: [.init(from: .init("noise"), to: .init("output"))]), to: noise, catalog: .standard)
    let source = try Child(rack(noise, folder, name: "bench-source"), log: "\(folder).log")
    defer { source.end() }
    let child = try Child(
      [
        backline, "run", preset, "--name", Self.clientName, "--server", JACKServer.name, "--host", "jack", "--osc-port",
        "\(Self.port)", "--connect", "none", "--root", folder, "--threads", "1",
      ], log: "\(folder)-rack.log")
    defer {
      child.end()
      for name in [source.log, child.log] { remove(name) }
    }
    let socket = try OSCSocket(port: Self.port, isStream: false)
    try Rack.awaitRunning(child, socket)
    try awaitPorts(jack, "bench-source", source)
    jack.connect("bench-source:out_1", toEach: tracks.map { "\(Self.clientName):\($0)" })
    let busy = try Child(["sha256sum", "/dev/zero"], log: "/dev/null")
    defer { busy.end() }
    try Interruption.sleep(1)
    let watch = min(10, options.seconds)
    let (without, timeBefore) = try load(jack, child, watch)
    var lost: [String: Int] = [:]
    _ = try ask(socket, child, OSCMessage("/subscribe", .string("/record/event")), &lost)
    let sources = (0..<Self.trackCount).map { OSCArgument.string("input:\($0)") }
    _ = try ask(socket, child, OSCMessage("/record/start", [.string("takes/")] + sources), &lost)
    var parts: [(load: Double, processor: Double)] = []
    var left = options.seconds
    while left > 0 {
      let part = min(10, left)
      left -= part
      parts.append(try load(jack, child, part))
      // Takes in the gaps that have been told, before the kernel has no room for more.
      _ = try ask(socket, child, OSCMessage("/record/state"), &lost)
    }
    let with = Statistics.median(parts.map(\.load)) ?? .nan
    let timeWith = Statistics.median(parts.map(\.processor)) ?? .nan
    let memory = child.privateDirty
    let end = try ask(socket, child, OSCMessage("/record/stop"), &lost)
    guard end.count > 2, case .int64(let frames) = end[1] else {
      throw BenchError("/record/stop answers \(end)")
    }
    return [
      .count(jack.frames), .number(without, 2), .number(with, 2), .number(with - without, 2),
      .number(timeWith - timeBefore, 1), .number(Double(frames) / Double(jack.rate), 1),
      .count(lost["disk"] ?? 0), .count(lost["server"] ?? 0), .number(memory, 0),
    ]
  }

  /// JACK's load, and the program's processor time in percent of the time on the clock.
  private func load(_ jack: JACKServer, _ child: Child, _ seconds: Double) throws -> (load: Double, processor: Double) {
    let time = child.processorTime, begin = backline_now()
    let load = try jack.load(seconds: seconds).median
    return (load, 100 * (child.processorTime - time) / (Double(backline_now() - begin) * 1e-9))
  }

  /// What a command is answered; the frames of gaps that are told meanwhile are added to `lost` by their cause.
  private func ask(
    _ socket: OSCSocket, _ child: Child, _ message: OSCMessage, _ lost: inout [String: Int]
  ) throws -> [OSCArgument] {
    try socket.send(try socket.wire(message))
    let end = backline_now() + 30_000_000_000
    while let answer = try socket.receive(until: end) {
      if answer.address == "/record/event", answer.arguments.count == 4, answer.arguments[0] == .string("gap"),
        case .int64(let count) = answer.arguments[2], case .string(let cause) = answer.arguments[3]
      {
        lost[cause, default: 0] += Int(count)
      }
      guard answer.arguments.first == .string(message.address) else { continue }
      if answer.address == "/reply" { return Array(answer.arguments.dropFirst()) }
      throw BenchError("\(message.address) is refused: \(answer.arguments)")
    }
    throw BenchError("\(message.address) is not answered: \(child.lastWords)")
  }
}
