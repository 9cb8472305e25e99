import BacklineEngine
import BacklineTestSupport
import CBackline
import Synchronization
import Testing

@Suite("Offline host")
struct OfflineHostTests {
  private let log = EventLog<HostEvent>()
  private let probe = RenderProbe()
  private let configuration = HostConfiguration(name: "offline", inputPorts: ["in_1"], outputPorts: ["out_1"])

  private func open(_ host: OfflineHost) {
    host.open(configuration, render: probe.render, state: probe.state) { [log] in log.append($0) }
  }

  private func close(_ host: OfflineHost) async -> Bool {
    await withCheckedContinuation { continuation in host.close { continuation.resume(returning: $0) } }
  }

  private func render(_ host: OfflineHost, frames: Int = 1) -> OfflineHost.Outcome {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: max(1, frames)) { samples in
      guard var output = samples.baseAddress else { return .closed }
      return withUnsafePointer(to: &output) {
        host.render(nil, inputCount: 0, $0, outputCount: 1, frameCount: frames)
      }
    }
  }

  @Test("renders just the frames that are asked for, from its start to its end")
  func renders() async {
    let host = OfflineHost(sampleRate: 44_100, period: 512)
    #expect(render(host) == .closed)
    open(host)
    #expect(render(host) == .closed)
    host.start()
    #expect(log.all == [.opened(name: "offline", sampleRate: 44_100, period: 512), .started])
    for frames in [0, 1, 511, 9_000] { #expect(render(host, frames: frames) == .rendered) }
    #expect(render(host, frames: -1) == .closed)
    #expect(probe.frames == 9_512 && host.renderedFrames == 9_512)
    #expect(await close(host))
    #expect(render(host) == .closed)
    #expect(probe.cycles == 4)
  }

  @Test("a paused host renders nothing, and a second opening is refused")
  func pauses() async {
    let host = OfflineHost()
    open(host)
    host.start()
    host.isPaused = true
    #expect(render(host) == .paused && probe.cycles == 0)
    host.isPaused = false
    #expect(render(host) == .rendered && probe.cycles == 1)
    log.clear()
    open(host)
    #expect(log.all == [.failed(.refused("the offline host is open already"))])
    #expect(await close(host))
  }

  @Test("a cycle that runs is waited for by the closing, and kept apart from another")
  func waits() async {
    let host = OfflineHost()
    open(host)
    host.start()
    probe.waste(nanoseconds: 50_000_000)
    let outcomes = EventLog<OfflineHost.Outcome>()
    let other = Task.detached { [self] in outcomes.append(render(host)) }
    while host.isStarted && render(host) == .rendered && probe.cycles < 1_000 {
      if !outcomes.all.isEmpty { break }
    }
    #expect(await close(host))
    let cycles = probe.cycles
    await other.value
    #expect(render(host) == .closed && probe.cycles == cycles)
  }

  @Test("says what a server might say: a refusal, a late start, news")
  func moods() async throws {
    let engine = try Engine()
    let host = OfflineHost()
    host.refusal = .noServer("no server runs")
    await engine.start(host, name: "moody")
    try await waitUntil { await engine.state == .unavailable("no server runs") }
    host.refusal = nil
    host.holdsStart = true
    try await waitUntil { host.isStarted }
    #expect(await engine.state != .running)
    host.send(.started)
    try await waitUntil { await engine.state == .running }
    host.send(.periodChanged(1_024))
    try await waitUntil { await engine.period == 1_024 }
    host.sampleRate = 96_000
    host.holdsStart = false
    host.send(.lost(reason: "gone"))
    try await waitUntil { await engine.sampleRate == 96_000 }
    try await waitUntil { await engine.state == .running }
  }

  @Test("where every frame counts, sound is there from the first frame on")
  func exact() async throws {
    let engine = try Engine()
    let host = OfflineHost()
    try await engine.perform([.connect(Endpoint("input"), Endpoint("output"))])
    await engine.start(host, name: "exact")
    try await waitUntil { await engine.state == .running }
    let ones = [Float](repeating: 1, count: 100)
    #expect(host.cycle([ones, ones], frames: 100) == [ones, ones])
    await withCheckedContinuation { continuation in
      Task { await engine.stop { _ in continuation.resume() } }
    }
    await engine.start(host, name: "exact")
    try await waitUntil { host.isStarted }
    // 100 frames end within a quantum; what is rendered anew begins at the edge of one.
    #expect(await engine.currentFrame == 128)
    #expect(host.cycle([ones, ones], frames: 100) == [ones, ones])
  }
}
