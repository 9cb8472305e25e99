import BacklineEngine
import BacklineTestSupport
import CBackline
import Foundation
import Synchronization
import Testing

/// A render core that one thread drives while another announces periods to it and exchanges plans; to be run under the thread
/// and the address sanitizer, too.
@Suite("Period changes under a running core")
struct PeriodRaceTests {
  @Test("rendering goes on while periods change without any pause between announcement and cycle (U-02)")
  func race() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      .add(kind: "delay", name: "d", values: []), .add(kind: "reverb", name: "r", values: []),
      .connect(Endpoint("input"), Endpoint("d")), .connect(Endpoint("d"), Endpoint("r")),
      .connect(Endpoint("r"), Endpoint("output")),
    ])
    let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"
    let rounds = isLong ? 60_000 : 400
    let race = Race()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let input = Signals.noise(frames: 512, amplitude: 0.5)
        while !race.isOver.load(ordering: .acquiring) {
          // The cycle has whatever length has been announced last; the engine may not have heard of it yet.
          let frames = race.announced.load(ordering: .acquiring)
          let output = harness.host.cycle([input, input], frames: frames)
          #expect(output.allSatisfy { $0.count == frames && $0.allSatisfy(\.isFinite) })
        }
      }
      group.addTask {
        for round in 0..<rounds {
          let period = round % 2 == 0 ? 512 : 128
          harness.host.send(.periodChanged(period))
          race.announced.store(period, ordering: .releasing)
          if round % 20 == 0 { try await harness.perform([.bypass("d", round % 40 == 0)]) }
          if round % 50 == 0 { try await harness.perform([.replace("r", kind: round % 100 == 0 ? "gain" : "reverb")]) }
        }
        race.isOver.store(true, ordering: .releasing)
      }
      try await group.waitForAll()
    }
    try await waitUntil(20) { await harness.engine.epoch >= rounds }
  }

  @Test("a cycle of twice the longest period is rendered whole, and to the same bits as short ones (U-02)")
  func overlong() async throws {
    let input = [Signals.noise(frames: 32_768, amplitude: 0.5), Signals.noise(frames: 32_768, amplitude: 0.5, seed: 2)]
    var outputs: [[[Float]]] = []
    for cuts in [[16_384], [64], [32_768], [7, 8_193, 1]] {
      let harness = try await EngineHarness()
      try await harness.perform([
        .add(kind: "reverb", name: "r", values: []), .connect(Endpoint("input"), Endpoint("r")),
        .connect(Endpoint("r"), Endpoint("output")),
      ])
      outputs.append(harness.render(input, cuts: cuts))
    }
    #expect(outputs.allSatisfy { $0 == outputs[0] })
    #expect(Signals.peak(outputs[0][0]) > 0.01)
  }
}

/// What the two sides tell each other.
private final class Race: Sendable {
  let isOver = Atomic<Bool>(false)
  let announced = Atomic<Int>(128)
}
