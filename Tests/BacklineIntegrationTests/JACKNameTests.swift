import BacklineTestSupport
import Testing

@testable import BacklineCommand

extension JACKRackTests {
  @Test("a second rack of the same name says its own in the ready line and the status, and uses it (U-06)")
  func secondInstance() async throws {
    try await JACKServer.with { _ in
      let first = try JACKRack()
      let second = try JACKRack()
      let name = try #require(second.ready["name"])
      #expect(name != "rack" && name.hasPrefix("rack"))
      #expect(try second.word("name") == name)
      let watcher = try JACKTestClient("watcher")
      #expect(
        await Eventually.holds { watcher.connections(of: "\(name):out_1") == ["system:playback_1"] })
      #expect(watcher.connections(of: "\(name):in_1") == ["system:capture_1"])
      #expect(watcher.connections(of: "rack:out_1") == ["system:playback_1"])
      #expect(try first.word("name") == "rack" && first.word("state") == "running")
      watcher.close()
      #expect(try second.quit() == 0)
      #expect(try first.quit() == 0)
    }
  }

  @Test("--exact-name ends with 69 and one clear line where the name is taken; the first rack is untouched (U-06)")
  func exactName() async throws {
    try await JACKServer.with { _ in
      let first = try JACKRack()
      let ending = try ProcessRunner.run(
        try BuiltProgram.backline(),
        ["run", "--name", "rack", "--server", JACKServer.name, "--host", "jack", "--osc-port", "0", "--exact-name"])
      #expect(ending.status == 69)
      #expect(ending.output.isEmpty)
      #expect(ending.errors == "backline: error: the client name \"rack\" is taken on the JACK server\n")
      #expect(try first.word("state") == "running")
      #expect(try first.quit() == 0)
    }
  }

  @Test("ports and connections are the same at every start, and an output is never wired to an own input (U-07)")
  func stableNames() async throws {
    try await JACKServer.with { server in
      for start in 0..<6 {
        if start == 5 {
          try await server.stop()
          try await server.start(sampleRate: 48_000, period: 256)
        }
        let rack = try JACKRack(start % 2 == 0 ? [] : ["--connect", "none"])
        let watcher = try JACKTestClient("watcher")
        #expect(watcher.ports(of: "rack") == ["in_1", "in_2", "out_1", "out_2"].map { "rack:\($0)" })
        let wired = start % 2 == 0
        for channel in 1...2 {
          #expect(
            await Eventually.holds {
              watcher.connections(of: "rack:out_\(channel)") == (wired ? ["system:playback_\(channel)"] : [])
                && watcher.connections(of: "rack:in_\(channel)") == (wired ? ["system:capture_\(channel)"] : [])
            })
        }
        watcher.close()
        #expect(try rack.quit() == 0)
      }
    }
  }
}
