import BacklineDSP

/// The cost of every unit by itself, in nanoseconds a stereo frame at 48 kHz, in blocks of 64 frames on noise.
extension Bench {
  /// A unit with what it needs to have something to do.
  private struct Case {
    let unit: UnitDescription
    var title: String
    var parameters: [String: Float] = [:]
    var response: ImpulseResponse?
  }

  private static let frames = 64

  func measureUnits(_ report: inout Report) throws {
    let cases = try Self.cases()
    var costs = [[Double]](repeating: [], count: cases.count)
    let rigs = try cases.map { one in
      let rig = try UnitRig(one.unit, one.parameters, frames: Self.frames)
      if let response = one.response { try rig.load(response) }
      return rig
    }
    for turn in 0...options.repeats {
      for index in turn % 2 == 0 ? Array(rigs.indices) : rigs.indices.reversed() {
        try Interruption.check()
        let cost = rigs[index].time(seconds: options.seconds)
        // The first turn warms up.
        if turn > 0 { costs[index].append(cost) }
      }
    }
    var table = Report.Table(
      title: "Units: nanoseconds a stereo frame, and percent of a core at 48 kHz, in blocks of \(Self.frames) frames",
      columns: ["unit", "ns/frame", "least", "% of a core"])
    for (one, costs) in zip(cases, costs) {
      let median = Statistics.median(costs)
      table.rows.append([
        .text(one.title), .number(median, 1), .number(costs.min(), 1), .number(median.map { $0 * 48_000 / 1e7 }, 3),
      ])
    }
    report.add(table)
    let bands = zip(cases, costs).filter { $0.0.title.hasPrefix("equalizer") }.compactMap { Statistics.median($0.1) }
    if bands.count == 2 {
      report.note(
        "equalizer: 8 bands in one take \(Statistics.text(bands[1] / (8 * bands[0]), 2)) of 8 of one band each")
    }
  }

  private static func cases() throws -> [Case] {
    var cases: [Case] = []
    for unit in UnitCatalog.standard.descriptions {
      switch unit.kind {
      // It reads files: its cost is that of the disk.
      case Player.description.kind: continue
      case Equalizer.description.kind:
        cases.append(Case(unit: unit, title: "equalizer, 1 band", parameters: bands(1)))
        cases.append(Case(unit: unit, title: "equalizer, 8 bands", parameters: bands(8)))
      case GraphicEqualizer.description.kind:
        let gains = unit.parameters.enumerated().filter { $1.measure == .decibels && !$1.isReadOnly }
          .map { ($1.name, $0 % 2 == 0 ? Float(3) : -3) }
        cases.append(
          Case(unit: unit, title: unit.kind, parameters: Dictionary(gains, uniquingKeysWith: { first, _ in first })))
      case Convolver.description.kind:
        cases.append(
          Case(unit: unit, title: "convolver, 3 s stereo", response: try ImpulseResponse(W6Response.channels())))
      case Freeze.description.kind:
        cases.append(Case(unit: unit, title: unit.kind, parameters: ["isHeld": 1]))
      default: cases.append(Case(unit: unit, title: unit.kind))
      }
    }
    return cases
  }

  private static func bands(_ count: Int) -> [String: Float] {
    Dictionary(
      uniqueKeysWithValues: (1...count).flatMap { band -> [(String, Float)] in
        [
          ("band\(band)Enabled", 1), ("band\(band)Gain", band % 2 == 0 ? 3 : -3),
          ("band\(band)Frequency", OfflineWorkload.bands[band - 1]),
        ]
      })
  }
}
