import BacklineEngine
import BacklineJACK
import BacklineTestSupport
import Testing

extension JACKTests {
  @Test(
    "ports of a running client are renamed by position, added and taken away, and kept ones keep their connections",
    .disabled(if: JACKServer.isPipeWire, "PipeWire 0.3 does not tell others of a port's new name"))
  func portLayout() async throws {
    try await JACKServer.with { _ in
      let test = try HostUnderTest(policy: .auto)
      _ = try await test.run()
      let watcher = try JACKTestClient("watcher")
      func ports() -> [String] { watcher.ports(of: "backline-host").map { String($0.dropFirst(14)) }.sorted() }
      #expect(await Eventually.holds { watcher.connections(of: "backline-host:out_2") == ["system:playback_2"] })
      var layout = test.configuration
      layout.inputPorts = ["guitar"]
      layout.outputPorts = ["left", "right", "effects"]
      test.host.setPorts(layout)
      #expect(await Eventually.holds { ports() == ["effects", "guitar", "left", "right"] })
      #expect(watcher.connections(of: "backline-host:left") == ["system:playback_1"])
      #expect(watcher.connections(of: "backline-host:right") == ["system:playback_2"])
      #expect(watcher.connections(of: "backline-host:guitar") == ["system:capture_1"])
      // Two change their names over, and what was taken away comes back with its connection.
      layout.inputPorts = ["guitar", "in_2"]
      layout.outputPorts = ["right", "left"]
      test.host.setPorts(layout)
      #expect(await Eventually.holds { ports() == ["guitar", "in_2", "left", "right"] })
      #expect(watcher.connections(of: "backline-host:right") == ["system:playback_1"])
      #expect(watcher.connections(of: "backline-host:left") == ["system:playback_2"])
      #expect(await Eventually.holds { watcher.connections(of: "backline-host:in_2") == ["system:capture_2"] })
      // None at all, and cycles go on.
      layout.inputPorts = []
      layout.outputPorts = []
      test.host.setPorts(layout)
      #expect(await Eventually.holds { ports().isEmpty })
      let rendered = test.probe.cycles
      #expect(await Eventually.holds { test.probe.cycles > rendered + 10 })
      #expect(test.lines.all.isEmpty)
      watcher.close()
      #expect(await test.close())
    }
  }

  @Test("a layout that JACK cannot have is told, and changes nothing")
  func impossibleLayout() async throws {
    try await JACKServer.with { _ in
      let test = try HostUnderTest()
      _ = try await test.run()
      var layout = test.configuration
      layout.outputPorts = ["in_1"]
      test.host.setPorts(layout)
      #expect(await test.lines.first { $0.contains("two JACK ports are named") } != nil)
      let watcher = try JACKTestClient("watcher")
      #expect(watcher.ports(of: "backline-host").count == 4)
      watcher.close()
      #expect(await test.close())
    }
  }
}
