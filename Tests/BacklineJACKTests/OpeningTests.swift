import BacklineEngine
import BacklineJACK
import BacklineTestSupport
import CBackline
import Foundation
import Testing

extension JACKTests {
  @Test("opens, starts, renders and closes; nothing is rendered before or after")
  func lifeCycle() async throws {
    try await JACKServer.with(sampleRate: 44_100, period: 128) { _ in
      let test = try HostUnderTest()
      #expect(await test.open() == .opened(name: "backline-host", sampleRate: 44_100, period: 128))
      #expect(test.probe.cycles == 0 && test.host.frame(at: backline_now()) == nil)
      test.host.start()
      #expect(await test.events.first { $0 == .started } != nil)
      #expect(await Eventually.holds { test.probe.frames > 22_050 })
      #expect(test.probe.longestCycle == 128)
      let now = backline_now()
      let one = try #require(test.host.frame(at: now))
      let other = try #require(test.host.frame(at: now + 1_000_000_000))
      #expect(abs(other - one - 44_100) < 441)
      #expect(abs(one - Int64(test.probe.frames)) < 4_410)
      #expect(await test.close())
      let rendered = test.probe.cycles
      #expect(test.host.frame(at: backline_now()) == nil)
      #expect(await test.close())
      #expect(test.probe.cycles == rendered)
    }
  }

  @Test("without a server, opening answers noServer each time and may be tried again")
  func noServer() async throws {
    let test = try HostUnderTest(server: "backline-nowhere")
    for _ in 0..<3 { #expect(await test.open() == .failed(.noServer("no JACK server \"backline-nowhere\" runs"))) }
    #expect(test.lines.all.isEmpty)
    // PipeWire's library has nothing to say of that.
    if !JACKServer.isPipeWire { #expect(!JACKMessages.shared.recent.isEmpty && JACKMessages.shared.count >= 3) }
    #expect(await test.close())
  }

  @Test("what the server could not take is refused with its reason")
  func refusals() async throws {
    let long = try HostUnderTest(String(repeating: "é", count: 32))
    guard case .failed(.refused(let message)) = await long.open() else {
      Issue.record("a name of 64 bytes was taken")
      return
    }
    #expect(message.contains("63 bytes") && message.contains("64"))
    for test in [try HostUnderTest(""), try HostUnderTest("a:b"), try HostUnderTest(inputs: 65)] {
      guard case .failed(.refused) = await test.open() else {
        Issue.record("\(test.configuration) was taken")
        return
      }
    }
  }

  @Test("a name of 63 bytes and 64 ports each way are taken")
  func limits() async throws {
    try await JACKServer.with { _ in
      let name = String(repeating: "n", count: 63)
      let test = try HostUnderTest(name, inputs: 64, outputs: 64)
      #expect(try await test.run() == .opened(name: name, sampleRate: 48_000, period: 256))
      #expect(await test.close())
    }
  }

  @Test(
    "a second client of the name gets another one and says so; with exactName it is refused; the first goes on",
    .disabled(if: JACKServer.isPipeWire, "PipeWire gives two clients one name"))
  func collision() async throws {
    try await JACKServer.with { _ in
      let first = try HostUnderTest()
      _ = try await first.run()
      let second = try HostUnderTest(policy: .auto)
      guard case .opened(let name, _, _) = try await second.run() else {
        Issue.record("the second was not opened")
        return
      }
      #expect(name != "backline-host" && second.lines.all.count == 1)
      let watcher = try JACKTestClient("watcher")
      #expect(watcher.connections(of: "\(name):out_1") == ["system:playback_1"])
      #expect(watcher.connections(of: "backline-host:out_1").isEmpty)
      let exact = try HostUnderTest(exactName: true)
      guard case .failed(.refused(let message)) = await exact.open() else {
        Issue.record("the exact one was not refused")
        return
      }
      #expect(message.contains("backline-host"))
      let rendered = first.probe.cycles
      #expect(await Eventually.holds { first.probe.cycles > rendered + 10 })
      watcher.close()
      #expect(await second.close())
      #expect(await first.close())
    }
  }

  @Test("twenty openings leave no threads and no descriptors behind")
  func noLeaks() async throws {
    func count(_ folder: String) -> Int {
      (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
    }
    try await JACKServer.with { _ in
      let test = try HostUnderTest()
      func cycle() async throws {
        _ = try await test.run()
        #expect(await test.close())
      }
      try await cycle()
      let threads = count("/proc/self/task")
      let descriptors = count("/proc/self/fd")
      for _ in 0..<20 { try await cycle() }
      // Other suites come and go meanwhile; a leak would be twenty.
      #expect(await Eventually.holds { count("/proc/self/task") < threads + 10 })
      #expect(await Eventually.holds { count("/proc/self/fd") < descriptors + 10 })
    }
  }

  @Test(
    "the ports carry names for people and their order",
    .disabled(if: JACKServer.isPipeWire, "PipeWire 0.3 takes an input and an output of one number for the same"))
  func metadata() async throws {
    try await JACKServer.with { _ in
      let test = try HostUnderTest()
      _ = try await test.run()
      let watcher = try JACKTestClient("watcher")
      let order = "http://jackaudio.org/metadata/order"
      let pretty = "http://jackaudio.org/metadata/pretty-name"
      #expect(await Eventually.holds { watcher.property(order, of: "backline-host:out_2") == "1" })
      #expect(await Eventually.holds { watcher.property(pretty, of: "backline-host:out_2") == "Out 2" })
      #expect(watcher.property(pretty, of: "backline-host:in_1") == "In 1")
      watcher.close()
      #expect(await test.close())
    }
  }

  @Test("a host that is released while it runs leaves the server")
  func released() async throws {
    try await JACKServer.with { _ in
      let probe: RenderProbe
      do {
        let test = try HostUnderTest()
        _ = try await test.run()
        probe = test.probe
      }
      let watcher = try JACKTestClient("watcher")
      #expect(await Eventually.holds { watcher.ports(of: "backline-host").isEmpty })
      let rendered = probe.cycles
      #expect(watcher.period == 256)
      #expect(probe.cycles == rendered)
      watcher.close()
    }
  }
}
