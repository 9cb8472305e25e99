import CBackline

/// W2: JACK's DSP load by the number of stereo biquad nodes, each a node of its own whose values may change at any moment.
extension Bench {
  private static let counts = [100, 250, 500, 750, 1000]

  func measureNodes(_ report: inout Report) throws {
    for frames in options.frames {
      let jack = try JACKServer(frames: frames)
      try Interruption.sleep(0.5)
      let idle = try jack.load(seconds: options.seconds)
      var table = Report.Table(
        title: "W2 DSP load in percent at \(frames) frames, by nodes (idle server \(Statistics.text(idle.median, 1)))",
        columns: ["topology", "server"] + Self.counts.map { "\($0)" } + ["late % at most", "us/node", "us/node least"])
      var plot = LinePlot(
        title: "DSP load by stereo biquad nodes, \(frames) frames at 48 kHz", xTitle: "nodes",
        yTitle: "load in percent")
      for topology in Topology.allCases {
        var series = Dictionary(uniqueKeysWithValues: kinds.map { ($0, LoadSeries(counts: Self.counts.count)) })
        for turn in 0..<options.repeats {
          for kind in self.turn(turn) {
            try measure(kind, topology, jack, &series[kind, default: LoadSeries(counts: 0)])
          }
        }
        for kind in kinds {
          guard let series = series[kind] else { continue }
          table.rows.append(row(topology, kind, series, jack))
          plot.lines.append(line(topology, kind, series))
        }
        if let ours = series[.backline], let theirs = series[.scsynth] {
          table.rows.append(ratios(topology, ours, theirs))
        }
      }
      report.add(table)
      report.add(plot, name: "\(frames)")
    }
  }

  /// Loads of one server over all repeats.
  private struct LoadSeries {
    var loads: [[Double]]
    var late = 0.0
    /// Load a node, from the least to the most nodes, in percent.
    var slopes: [Double] = []

    init(counts: Int) { loads = Array(repeating: [], count: counts) }
  }

  private func measure(_ kind: ServerKind, _ topology: Topology, _ jack: JACKServer, _ series: inout LoadSeries) throws
  {
    let server = try server(kind, jack)
    defer { server.child.end() }
    try server.build(topology)
    var nodes = 0
    var points: [Double] = []
    for (index, count) in Self.counts.enumerated() {
      try server.grow(topology, from: nodes, to: count)
      nodes = count
      try Interruption.sleep(0.6)
      let load = try jack.load(seconds: options.seconds)
      series.loads[index].append(load.median)
      series.late = max(series.late, load.latePart)
      points.append(load.median)
    }
    if let first = points.first, let last = points.last, let least = Self.counts.first, let most = Self.counts.last {
      series.slopes.append((last - first) / Double(most - least))
    }
  }

  private func row(_ topology: Topology, _ kind: ServerKind, _ series: LoadSeries, _ jack: JACKServer) -> [Report.Cell]
  {
    let scale = jack.period / 1e3 / 100
    return [.text(topology.rawValue), .text(kind.rawValue)] + series.loads.map { .number(Statistics.median($0), 1) } + [
      .number(series.late, 2), .number(Statistics.median(series.slopes).map { $0 * scale }, 3),
      .number(series.slopes.min().map { $0 * scale }, 3),
    ]
  }

  private func line(_ topology: Topology, _ kind: ServerKind, _ series: LoadSeries) -> LinePlot.Line {
    let points = zip(Self.counts, series.loads).compactMap { count, loads in
      Statistics.median(loads).map { (x: Double(count), y: $0) }
    }
    return LinePlot.Line(name: "\(kind.rawValue), \(topology.rawValue)", group: kind.rawValue, points: points)
  }

  /// Ours to theirs, repeat by repeat, the median of that.
  private func ratios(_ topology: Topology, _ ours: LoadSeries, _ theirs: LoadSeries) -> [Report.Cell] {
    func ratio(_ one: [Double], _ other: [Double]) -> Report.Cell {
      .number(Statistics.median(zip(one, other).map { $0 / $1 }), 2)
    }
    return [.text(topology.rawValue), .text("ratio")] + zip(ours.loads, theirs.loads).map(ratio) + [
      .none, ratio(ours.slopes, theirs.slopes), .none,
    ]
  }
}
