import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

@Suite("Timer host")
struct TimerHostTests {
  private let log = EventLog<HostEvent>()
  private let probe = RenderProbe()
  private let configuration = HostConfiguration(name: "timer", inputPorts: ["in_1"], outputPorts: ["out_1", "out_2"])

  private func open(_ host: TimerHost) {
    host.open(configuration, render: probe.render, state: probe.state) { [log] in log.append($0) }
  }

  private func close(_ host: TimerHost) async -> Bool {
    await withCheckedContinuation { continuation in host.close { continuation.resume(returning: $0) } }
  }

  @Test("renders a period each period's time, as its clock tells", arguments: [(48_000, 64), (44_100, 1_024)])
  func renders(sampleRate: Int, period: Int) async throws {
    let host = try TimerHost(sampleRate: sampleRate, period: period)
    open(host)
    #expect(
      await log.first { _ in true } == .opened(name: "timer", sampleRate: sampleRate, period: period))
    #expect(probe.cycles == 0 && host.frame(at: backline_now()) == nil)
    host.start()
    #expect(await log.first { $0 == .started } != nil)
    #expect(await Eventually.holds { probe.frames > sampleRate / 2 })
    #expect(probe.frames == probe.cycles * period && probe.longestCycle == period)
    // A second on the clock is a second of frames.
    let now = backline_now()
    let one = try #require(host.frame(at: now))
    let other = try #require(host.frame(at: now + 1_000_000_000))
    #expect(abs(other - one - Int64(sampleRate)) <= Int64(sampleRate) / 100)
    #expect(await close(host))
    let rendered = probe.frames
    #expect(host.frame(at: backline_now()) == nil)
    open(host)
    host.start()
    #expect(await Eventually.holds { probe.frames > rendered })
    #expect(await close(host))
  }

  @Test("frames go on counting through closing and opening")
  func contiguous() async throws {
    let host = try TimerHost(sampleRate: 48_000, period: 32)
    open(host)
    host.start()
    #expect(await Eventually.holds { probe.frames > 4_800 })
    #expect(await close(host))
    let before = Int64(probe.frames)
    open(host)
    host.start()
    #expect(await Eventually.holds { host.frame(at: backline_now()) != nil })
    #expect(try #require(host.frame(at: backline_now())) >= before - 32)
    #expect(await close(host))
  }

  @Test("a render function that takes longer than the sound lasts is counted, and does not spiral")
  func late() async throws {
    let host = try TimerHost(sampleRate: 48_000, period: 48)
    open(host)
    probe.waste(nanoseconds: 3_000_000)
    host.start()
    #expect(await Eventually.holds { host.lateCounts.own > 3 && host.lateCounts.server > 2 })
    #expect(await log.first { $0 == .xrun } != nil)
    #expect(host.load.largest > 1)
    #expect(await close(host))
  }

  @Test("closing without opening, twice, and opening what is open are answered")
  func misuse() async throws {
    let host = try TimerHost()
    host.start()
    #expect(await close(host))
    open(host)
    open(host)
    #expect(
      await log.first {
        if case .failed = $0 { return true } else { return false }
      } == .failed(.refused("the timer host is open already")))
    #expect(await close(host))
    #expect(await close(host))
    #expect(probe.cycles == 0)
  }

  @Test(
    "a rate or a period that cannot be is refused",
    arguments: [(7_999, 64), (768_001, 64), (48_000, 0), (48_000, 8_193)])
  func refuses(sampleRate: Int, period: Int) {
    #expect(throws: EngineError.self) { try TimerHost(sampleRate: sampleRate, period: period) }
  }

  @Test("an engine that is released while its host renders is freed after the last cycle")
  func engineReleased() async throws {
    let host = try TimerHost(sampleRate: 48_000, period: 64)
    for _ in 0..<20 {
      var engine: Engine? = try Engine()
      await engine?.start(host, name: "rack")
      try await waitUntil { [engine] in await engine?.state == .running }
      try await engine?.perform(.connect(Endpoint("input"), Endpoint("output")))
      engine = nil
      // The host is free for the next engine once it has closed.
      try await Task.sleep(nanoseconds: 30_000_000)
      let frames = host.renderedFrames
      try await Task.sleep(nanoseconds: 5_000_000)
      #expect(host.renderedFrames == frames)
    }
  }

  @Test("a host that is released while it renders stops")
  func released() async throws {
    do {
      let host = try TimerHost(sampleRate: 48_000, period: 64)
      open(host)
      host.start()
      #expect(await Eventually.holds { probe.cycles > 3 })
    }
    let after = probe.cycles
    let other = try TimerHost(sampleRate: 48_000, period: 64)
    let otherProbe = RenderProbe()
    other.open(configuration, render: otherProbe.render, state: otherProbe.state) { _ in }
    other.start()
    #expect(await Eventually.holds { otherProbe.cycles > 10 })
    #expect(probe.cycles == after)
    #expect(await close(other))
  }
}
