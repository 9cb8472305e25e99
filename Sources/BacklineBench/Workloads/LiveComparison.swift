import BacklineDSP
import BacklinePresets
import CBackline

/// A program with two inputs and two outputs that is measured live.
struct LiveProgram {
  /// The client's name that it has to take.
  static let client = "bench-live"

  let name: String
  let words: [String]
  var environment: [String] = []
}

/// Programs side by side at 64 frames, each in its turn behind one source of noise: JACK's load, and their own processor time.
extension Bench {
  /// What `compareLive` makes in its folder.
  static let liveFiles = ["source.json", "log.txt", "log2.txt"]

  /// Adds a table, in which the first program is compared to each of them.
  func compareLive(_ title: String, _ programs: [LiveProgram], in folder: String, _ report: inout Report) throws {
    try PresetFile.save(
      Preset(
        name: "source", nodes: [.init("noise", kind: "noise", parameters: ["gain": -26])],
        connections: [.init(from: .init("noise"), to: .init("output"))]), to: "\(folder)/source.json",
      catalog: .standard)
    let jack = try JACKServer(frames: 64)
    let source = try Child(
      rack("\(folder)/source.json", folder, name: "bench-source"), log: "\(folder)/log2.txt")
    defer { source.end() }
    try awaitPorts(jack, "bench-source", source)
    var loads = [[Double]](repeating: [], count: programs.count), times = loads, alone: [Double] = []
    for turn in 0..<options.repeats {
      alone.append(try jack.load(seconds: options.seconds).median)
      for index in turn % 2 == 0 ? Array(programs.indices) : programs.indices.reversed() {
        let program = programs[index]
        let child = try Child(program.words, environment: program.environment, log: "\(folder)/log.txt")
        defer { child.end() }
        try awaitPorts(jack, LiveProgram.client, child)
        try jack.connect("bench-source", to: LiveProgram.client)
        try Interruption.sleep(4)
        let before = child.processorTime, begin = backline_now()
        loads[index].append(try jack.load(seconds: max(3, options.seconds)).median)
        times[index].append(100 * (child.processorTime - before) / (Double(backline_now() - begin) * 1e-9))
      }
    }
    let idle = Statistics.text(Statistics.median(alone) ?? 0, 1)
    var table = Report.Table(
      title: "\(title): JACK's load (source alone \(idle) %)",
      columns: ["program", "DSP load %", "processor %", "backline to it"])
    let own = Statistics.median(times[0])
    for (index, one) in programs.enumerated() {
      let time = Statistics.median(times[index])
      table.rows.append([
        .text(one.name), .number(Statistics.median(loads[index]), 1), .number(time, 1),
        .number(own.flatMap { own in time.map { own / $0 } }, 2),
      ])
    }
    report.add(table)
  }

  /// A rack with a preset whose files stand in a folder.
  func rack(_ preset: String, _ folder: String, name: String = LiveProgram.client) -> [String] {
    [
      backline, "run", preset, "--name", name, "--server", JACKServer.name, "--host", "jack", "--osc-port", "0",
      "--connect", "none", "--root", folder,
    ]
  }

  func awaitPorts(_ jack: JACKServer, _ name: String, _ child: Child) throws {
    for _ in 0..<400 {
      if jack.portCount(of: name) >= 4 { return }
      if !child.isRunning { break }
      try Interruption.sleep(0.025)
    }
    throw BenchError("\(name) has no ports: \(child.lastWords)")
  }
}
