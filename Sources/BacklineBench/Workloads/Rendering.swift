import BacklineDSP
import BacklinePresets
import CBackline
import Glibc

/// W1, W1b and W1c: whole files, from the start of the process to a file on the disk.
enum OfflineWorkload: String {
  case w1, w1b, w1c

  static let bands: [Float] = [63, 125, 250, 500, 1000, 2000, 4000, 8000]

  var title: String {
    switch self {
    case .w1: "W1 gain, 4 bands, compressor, delay, reverb"
    case .w1b: "W1b 8 bands"
    case .w1c: "W1c gain"
    }
  }

  var definition: SynthDefinition {
    switch self {
    case .w1: .offlineChain
    case .w1b: .offlineBands
    case .w1c: .offlineGain
    }
  }

  /// The nodes of the preset, one after the other.
  var nodes: [Preset.Node] {
    func band(_ number: Int, _ frequency: Float, _ gain: Float, _ more: [String: Float]) -> [String: Float] {
      let own = ["Frequency": frequency, "Gain": gain, "Enabled": 1].merging(more) { $1 }
      return Dictionary(uniqueKeysWithValues: own.map { ("band\(number)\($0)", $1) })
    }
    func equalizer(_ bands: [[String: Float]]) -> Preset.Node {
      Preset.Node("eq", kind: "equalizer", parameters: bands.reduce([:]) { $0.merging($1) { $1 } })
    }
    let gain = Preset.Node("gain", kind: "gain", parameters: ["gain": -3])
    switch self {
    case .w1c: return [gain]
    case .w1b:
      return [equalizer(Self.bands.enumerated().map { band($0 + 1, $1, $0 % 2 == 0 ? 3 : -3, ["Q": 1.4]) })]
    case .w1:
      return [
        gain,
        equalizer([
          band(1, 100, 3, ["Type": 7]), band(2, 500, -2, ["Q": 1]), band(3, 2500, 2, ["Q": 1.4]),
          band(4, 8000, -3, ["Type": 8]),
        ]),
        Preset.Node(
          "comp", kind: "compressor",
          parameters: ["threshold": -20, "ratio": 4, "kneeWidth": 0, "attackTime": 0.01, "releaseTime": 0.1]),
        Preset.Node("delay", kind: "delay", parameters: ["delayTime": 0.35, "feedback": 40, "wetDryMix": 23]),
        Preset.Node(
          "reverb", kind: "reverb",
          parameters: ["wetDryMix": 25, "decayTime": 1.5, "preDelay": 0, "size": 70, "modulationDepth": 0]),
      ]
    }
  }
}

extension Bench {
  /// One program that makes one file.
  struct Maker {
    let name: String
    let words: [String]
  }

  /// Seconds on the clock and of the processor, and the most memory in MiB, shared libraries included.
  struct Run {
    let wall: Double
    let processor: Double
    let memory: Double
  }

  private static let lengths = [600, 60]

  func measureRendering(_ workload: OfflineWorkload, _ report: inout Report) throws {
    let folder = "/tmp/backline-bench-\(getpid())"
    mkdir(folder, 0o700)
    defer { for name in Self.made + [""] { remove("\(folder)/\(name)") } }
    var table = Report.Table(
      title: "\(workload.title): whole process, with the file on the disk",
      columns: ["length s", "program", "wall s", "least", "processor s", "x real time", "backline to it"])
    for seconds in Self.lengths {
      let input = "\(folder)/in-\(seconds).wav"
      try OfflineSignal.write(input, seconds: seconds)
      let makers = try makers(workload, input, folder, seconds)
      var runs: [[Run]] = Array(repeating: [], count: makers.count)
      // One more than are counted: the first warms the file cache. Who begins changes from turn to turn.
      for turn in 0...options.repeats {
        let order = turn % 2 == 0 ? Array(makers.indices) : makers.indices.reversed()
        for index in order {
          remove("\(folder)/out.wav")
          let run = try time(makers[index], folder)
          if turn > 0 { runs[index].append(run) }
        }
      }
      let own = Statistics.median(runs[0].map(\.wall)) ?? .nan
      for (maker, runs) in zip(makers, runs) {
        let wall = Statistics.median(runs.map(\.wall)) ?? .nan
        table.rows.append([
          .count(seconds), .text(maker.name), .number(wall, digits: 3), .number(runs.map(\.wall).min(), 3),
          .number(Statistics.median(runs.map(\.processor)), 3),
          .number(Double(seconds) / wall, digits: 0), .number(own / wall, digits: 2),
        ])
      }
      remove(input)
    }
    report.add(table)
  }

  private func makers(
    _ workload: OfflineWorkload, _ input: String, _ folder: String, _ seconds: Int
  ) throws -> [Maker] {
    let output = "\(folder)/out.wav"
    let preset = "\(folder)/preset.json"
    let nodes = workload.nodes
    let ends = ["input"] + nodes.map(\.name) + ["output"]
    let connections = zip(ends, ends.dropFirst()).map {
      Preset.Connection(from: .init($0), to: .init($1))
    }
    try PresetFile.save(
      Preset(name: workload.rawValue, nodes: nodes, connections: connections), to: preset, catalog: .standard)
    var makers = [
      Maker(name: "backline", words: [backline, "render", input, output, "--preset", preset, "--overwrite", "--quiet"])
    ]
    if !options.measuresPeers { return makers }
    if Machine.isInstalled("scsynth") {
      let score = "\(folder)/score.osc"
      try TextFile.write(OfflineScore.bytes(workload.definition, seconds: seconds), to: score)
      makers.append(
        Maker(
          name: "scsynth -N",
          words: [
            "scsynth", "-N", score, input, output, "48000", "WAV", "float", "-i", "2", "-o", "2", "-m", "65536",
          ]))
    }
    if workload == .w1c && Machine.isInstalled("ffmpeg") {
      let copy = "ffmpeg -nostdin -y -v error -i \(input) -c copy \(output) && sync \(output)"
      makers.append(Maker(name: "ffmpeg -c copy, sync", words: ["sh", "-c", copy]))
    }
    if workload != .w1 && Machine.isInstalled("sox") {
      let effects =
        workload == .w1c
        ? ["gain", "-3"]
        : OfflineWorkload.bands.enumerated().flatMap {
          ["equalizer", "\($1)", "1.4q", $0 % 2 == 0 ? "3" : "-3"]
        }
      makers.append(Maker(name: "sox", words: ["sox", input, "-e", "float", "-b", "32", output] + effects))
    }
    return makers
  }

  func time(_ maker: Maker, _ folder: String) throws -> Run {
    try Interruption.check()
    let child = try Child(maker.words, log: "\(folder)/log.txt")
    var status: Int32 = 0
    var usage = rusage()
    while wait4(child.id, &status, 0, &usage) < 0 && errno == EINTR { try Interruption.check() }
    let wall = Double(backline_now() - child.begin) * 1e-9
    guard status == 0 else { throw BenchError("\(maker.name) has failed: \(child.lastWords)") }
    let processor = [usage.ru_utime, usage.ru_stime].reduce(0.0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
    return Run(wall: wall, processor: processor, memory: Double(usage.ru_maxrss) / 1024)
  }

  /// What is made in the folder.
  private static let made = ["in-600.wav", "in-60.wav", "out.wav", "preset.json", "score.osc", "log.txt"]
}
