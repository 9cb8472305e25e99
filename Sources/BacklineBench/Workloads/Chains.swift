import CBackline

/// W3: independent chains, each a source and a series of stereo biquad nodes, summed; JACK's DSP load with one thread and with two.
extension Bench {
  private static let shapes = [(chains: 8, length: 100), (chains: 2, length: 400)]

  /// Who is measured: Backline with so many threads, or scsynth, which has one.
  private enum Contender: Hashable {
    case backline(threads: Int)
    case scsynth

    var name: String {
      switch self {
      case .backline(let threads): "backline \(threads)"
      case .scsynth: "scsynth"
      }
    }
  }

  func measureChains(_ report: inout Report) throws {
    var contenders: [Contender] = [.backline(threads: 1), .backline(threads: 2)]
    if kinds.contains(.scsynth) { contenders.append(.scsynth) }
    for frames in options.frames where frames >= 64 {
      let jack = try JACKServer(frames: frames)
      try Interruption.sleep(0.5)
      var table = Report.Table(
        title: "W3 DSP load in percent at \(frames) frames, with one thread and with two",
        columns: ["chains", "backline 1", "backline 2", "1 to 2", "late % with 2", "scsynth", "scsynth to 2"])
      for shape in Self.shapes {
        var loads: [Contender: [Double]] = [:]
        var late = 0.0
        for turn in 0..<options.repeats {
          for contender in turn % 2 == 0 ? contenders : contenders.reversed() {
            let load = try measure(contender, shape.chains, shape.length, jack)
            loads[contender, default: []].append(load.median)
            if contender == .backline(threads: 2) { late = max(late, load.latePart) }
          }
        }
        let one = loads[.backline(threads: 1)] ?? [], two = loads[.backline(threads: 2)] ?? []
        let peer = loads[.scsynth] ?? []
        table.rows.append([
          .text("\(shape.chains)x\(shape.length)"), .number(Statistics.median(one), 1),
          .number(Statistics.median(two), 1), .number(Statistics.median(zip(one, two).map { $0 / $1 }), 2),
          .number(late, 2), .number(Statistics.median(peer), 1),
          .number(Statistics.median(zip(peer, two).map { $0 / $1 }), 2),
        ])
      }
      report.add(table)
    }
  }

  private func measure(
    _ contender: Contender, _ chains: Int, _ length: Int, _ jack: JACKServer
  ) throws -> JACKServer.Load {
    let server: any BenchServer
    switch contender {
    case .backline(let threads): server = try Rack(backline, jack, isStream: false, threads: threads)
    case .scsynth: server = try Scsynth(jack, isStream: false)
    }
    defer { server.child.end() }
    try server.buildChains(chains, length: length)
    // Until the nodes have been measured and the plan shares their work.
    try Interruption.sleep(1.5)
    return try jack.load(seconds: options.seconds)
  }
}
