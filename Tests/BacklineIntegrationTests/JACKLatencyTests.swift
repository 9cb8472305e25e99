import BacklineDSP
import BacklineEngine
import BacklineJACK
import BacklineOSC
import BacklineTestSupport
import Testing

extension JACKRackTests {
  @Test("latencies settle when sound leaves the rack and comes back through another client (U-09)")
  func latencies() async throws {
    let files = try JACKRackFiles()
    try await JACKServer.with { _ in
      let preset = try files.preset(
        "pairs", inputs: #"[["in_1"], ["in_2"]]"#, outputs: #"[["out_1"], ["out_2"]]"#,
        nodes: [("a", "gain"), ("b", "compressor")],
        connections: [("input:0", "a"), ("a", "output:0"), ("input:1", "b"), ("b", "output:1")])
      let rack = try JACKRack([preset, "--connect", "none"])
      let helper = try JACKTestClient("helper", inputs: 1, outputs: 1, addedLatency: 256)
      try await settles(helper, rackAdds: 0)
      helper.close()
      #expect(try rack.quit() == 0)
    }
  }

  @Test("what units add to one pair of ports is told of that pair alone, and follows edits (U-09)")
  func latentUnits() async throws {
    try await JACKServer.with { _ in
      let engine = try Engine(catalog: TestUnits.catalog)
      let host = try JACKHost(JACKOptions(server: JACKServer.name, connectPolicy: .none))
      let ports = PortLayout(inputs: [["in_1"], ["in_2"]], outputs: [["out_1"], ["out_2"]])
      try await engine.perform(
        [
          .load(GraphDescription(ports: ports, nodes: [], connections: [])),
          .connect(Endpoint("input", bus: 0), Endpoint("output", bus: 0)),
          .add(kind: "lookAhead", name: "late", values: [(index: 0, value: 96)]),
          .connect(Endpoint("input", bus: 1), Endpoint("late")), .connect(Endpoint("late"), Endpoint("output", bus: 1)),
        ])
      await engine.start(host, name: "rack")
      try await waitUntil(JACKRack.patience) { await engine.state == .running }
      let helper = try JACKTestClient("helper", inputs: 1, outputs: 1, addedLatency: 256)
      try await settles(helper, rackAdds: 96)
      try await engine.perform([.set(node: "late", parameter: 0, value: 200)])
      try await settles(helper, rackAdds: 200)
      helper.close()
      #expect(await withCheckedContinuation { done in Task { await engine.stop { done.resume(returning: $0) } } })
    }
  }

  /// Wires the first pair through a helper that adds 256 frames into the second, which adds `rackAdds` itself, and sees the
  /// latencies settle and stay.
  private func settles(_ helper: JACKTestClient, rackAdds: Int) async throws {
    try helper.connect("system:capture_1", "rack:in_1")
    try helper.connect("rack:out_1", "helper:in_1")
    try helper.connect("helper:out_1", "rack:in_2")
    try helper.connect("rack:out_2", "system:playback_1")
    let capture = try #require(helper.latency(of: "system:capture_1", capture: true))
    let playback = try #require(helper.latency(of: "system:playback_1", capture: false))
    func isRight() -> Bool {
      let all = 256 + rackAdds
      return helper.latency(of: "rack:out_1", capture: true) == capture
        && helper.latency(of: "rack:in_2", capture: true) == capture.lowerBound + 256...capture.upperBound + 256
        && helper.latency(of: "rack:out_2", capture: true) == capture.lowerBound + all...capture.upperBound + all
        && helper.latency(of: "rack:in_1", capture: false) == playback.lowerBound + all...playback.upperBound + all
    }
    func told() -> [String] {
      ["rack:in_1", "rack:out_1", "rack:in_2", "rack:out_2"].map { port in
        let ranges = [true, false].map { helper.latency(of: port, capture: $0).map { "\($0)" } ?? "?" }
        return "\(port) \(ranges)"
      }
    }
    #expect(await Eventually.holds { isRight() }, "\(told()), capture \(capture), playback \(playback)")
    let other = try JACKTestClient("other", inputs: 1)
    for round in 0..<100 {
      if round % 2 == 0 {
        try other.connect("system:capture_2", "other:in_1")
      } else {
        other.disconnect("system:capture_2", "other:in_1")
      }
      helper.recomputeLatencies()
      #expect(isRight())
    }
    other.close()
  }
}
