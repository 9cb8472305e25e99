/// The most nodes of which at most 0.5 % of the cycles come late, in steps of 5 % of what the load lets expect.
extension Bench {
  private static let lateLimit = 0.5

  func measureCapacity(_ report: inout Report) throws {
    var table = Report.Table(
      title: "W2 the most nodes with at most 0.5 % of the cycles late",
      columns: ["frames", "topology", "server", "nodes", "load there", "step"])
    for frames in options.frames {
      let jack = try JACKServer(frames: frames)
      try Interruption.sleep(0.5)
      for topology in Topology.allCases {
        for kind in kinds {
          let found = try capacity(kind, topology, jack)
          table.rows.append([
            .count(frames), .text(topology.rawValue), .text(kind.rawValue), .count(found.nodes), .number(found.load, 1),
            .count(found.step),
          ])
        }
      }
    }
    report.add(table)
  }

  private func capacity(
    _ kind: ServerKind, _ topology: Topology, _ jack: JACKServer
  ) throws -> (nodes: Int, load: Double?, step: Int) {
    let expected = try expectation(kind, topology, jack)
    let step = max(1, expected / 20)
    // From a number that holds upwards.
    for part in [0.75, 0.6, 0.45, 0.3, 0.15] {
      let server = try server(kind, jack)
      defer { server.child.end() }
      var nodes = Int(part * Double(expected))
      do {
        try server.build(topology)
        try server.grow(topology, from: 0, to: nodes)
        try Interruption.sleep(1)
        guard var load = try sustained(jack) else { continue }
        while nodes + step <= 14_000 {
          do {
            try server.grow(topology, from: nodes, to: nodes + step)
            guard let next = try sustained(jack) else { break }
            nodes += step
            load = next
          } catch {
            // A server that the load has thrown out of JACK answers no more.
            try Interruption.check()
            break
          }
        }
        return (nodes, load, step)
      } catch {
        try Interruption.check()
      }
    }
    return (0, nil, step)
  }

  /// The nodes that would come to a load of 95 %.
  private func expectation(_ kind: ServerKind, _ topology: Topology, _ jack: JACKServer) throws -> Int {
    let server = try server(kind, jack)
    defer { server.child.end() }
    try server.build(topology)
    try server.grow(topology, from: 0, to: 500)
    try Interruption.sleep(0.6)
    return min(14_000, max(100, Int(95 * 500 / max(1, try jack.load(seconds: options.seconds).median))))
  }

  /// The load where one of three tries has few enough late cycles.
  private func sustained(_ jack: JACKServer) throws -> Double? {
    for _ in 0..<3 {
      try Interruption.sleep(0.5)
      let load = try jack.load(seconds: options.seconds)
      if load.latePart <= Self.lateLimit { return load.median }
    }
    return nil
  }
}
