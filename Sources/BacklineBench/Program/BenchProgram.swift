import Glibc

/// The program `backline-bench`: measures, by hand, what no timed test should assert.
enum BenchProgram {
  /// Runs a command line and returns the exit code.
  static func run(_ words: [String]) -> Int32 {
    do {
      guard let options = try BenchOptions(words) else {
        print(BenchOptions.usage)
        return 0
      }
      Interruption.install()
      var report = Report()
      let bench = Bench(options)
      for line in bench.notes { report.note(line) }
      for workload in options.workloads {
        say("\(workload.rawValue) ...")
        do {
          try bench.run(workload, &report)
        } catch {
          report.note("\(workload.rawValue): \(error)")
          if Interruption.isWanted { break }
        }
      }
      try draw(report.plots, options.plot)
      print(options.json ? report.json : report.text, terminator: "")
      return Interruption.isWanted ? 130 : 0
    } catch {
      say("backline-bench: \(error)")
      return 64
    }
  }

  /// Writes the first picture to the file that was asked for, others beside it.
  private static func draw(_ plots: [(name: String, plot: LinePlot)], _ path: String?) throws {
    guard let path else { return }
    for (index, plot) in plots.enumerated() {
      let stem = path.hasSuffix(".svg") ? String(path.dropLast(4)) : path
      try TextFile.write(Array(plot.plot.svg.utf8), to: index == 0 ? path : "\(stem)-\(plot.name).svg")
    }
  }

  /// Tells on standard error what goes on.
  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}

/// What all workloads share: the options, and which servers are there to be measured.
struct Bench {
  let options: BenchOptions
  let kinds: [ServerKind]
  let backline: String
  private(set) var notes: [String] = []

  init(_ options: BenchOptions) {
    self.options = options
    backline = options.backline ?? Self.ownFolder + "/backline"
    var kinds = [ServerKind.backline]
    notes.append("machine: \(Machine.description)")
    if options.measuresPeers {
      if Machine.isInstalled("scsynth") {
        kinds.append(.scsynth)
      } else {
        notes.append("scsynth is not installed and was not measured")
      }
    }
    self.kinds = kinds
  }

  func run(_ workload: BenchOptions.Workload, _ report: inout Report) throws {
    if workload != .units && access(backline, X_OK) != 0 {
      throw BenchError("there is no program \(backline): build it, or use --backline")
    }
    switch workload {
    case .units: try measureUnits(&report)
    case .w6: try measureConvolution(&report)
    case .reverbPeers: try measureReverbPeers(&report)
    case .w1: try measureRendering(.w1, &report)
    case .w1b: try measureRendering(.w1b, &report)
    case .w1c: try measureRendering(.w1c, &report)
    case .w2: try measureNodes(&report)
    case .w3: try measureChains(&report)
    case .capacity: try measureCapacity(&report)
    case .w4: try measureOSC(&report)
    case .w5: try measureEdits(&report)
    case .w7: try measureIdle(&report)
    case .taps: try measureTaps(&report)
    case .players: try measurePlayers(&report)
    case .deadline: try measureDeadline(&report)
    case .recording: try measureRecording(&report)
    case .video: try measureVideo(&report)
    }
  }

  /// A running server of a kind.
  func server(_ kind: ServerKind, _ jack: JACKServer, isStream: Bool = false) throws -> any BenchServer {
    switch kind {
    case .backline: try Rack(backline, jack, isStream: isStream)
    case .scsynth: try Scsynth(jack, isStream: isStream)
    }
  }

  /// The kinds in the order of a repeat: who comes first changes, so that neither always has the warmer machine.
  func turn(_ repeatIndex: Int) -> [ServerKind] { repeatIndex % 2 == 0 ? kinds : kinds.reversed() }

  private static var ownFolder: String {
    var bytes = [CChar](repeating: 0, count: 4096)
    let count = max(0, readlink("/proc/self/exe", &bytes, bytes.count - 1))
    let path = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }
}

/// Who is measured.
enum ServerKind: String { case backline, scsynth }
