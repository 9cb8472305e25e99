import BacklineOSC
import BacklineTestSupport
import CBackline
import Glibc
import Testing

@testable import BacklineCommand

extension JACKRackTests {
  @Test(
    "a signal fades out, leaves the server and exits with 0 within two seconds; others play on (U-14)",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func signal(_ number: Int32) async throws {
    try await JACKServer.with(period: 256) { _ in
      try await endsWell { $0.runner.send(number) }
    }
  }

  @Test("a second signal 50 ms after the first changes nothing (U-14)")
  func twoSignals() async throws {
    try await JACKServer.with(period: 256) { _ in
      try await endsWell { rack in
        rack.runner.send(SIGTERM)
        usleep(50_000)
        rack.runner.send(SIGTERM)
      }
    }
  }

  @Test("/quit ends like a signal: faded out, exit code 0 (U-14)")
  func quitCommand() async throws {
    try await JACKServer.with(period: 256) { _ in
      try await endsWell { try $0.ask("/quit") }
    }
  }

  /// Ends a rack that sounds while another client records it and itself plays through the server.
  private func endsWell(_ end: (JACKRack) throws -> Void) async throws {
    let files = try JACKRackFiles()
    let preset = try files.preset(
      "tone", inputs: "[]", nodes: [("o", "oscillator")], parameters: ["o": #""frequency": 100"#],
      connections: [("o", "output")])
    let rack = try JACKRack([preset, "--connect", "none"])
    let source = try JACKTestClient("source", outputs: 1)
    let recorder = try JACKTestClient("recorder", inputs: 2)
    // Each sample of the other client's tells its number, so that a gap of a single period would show.
    let ramp = (0..<48_000).map { Float($0 + 1) / 65_536 }
    let take = try recorder.startRecording(from: ["rack:out_1", "source:out_1"], frames: 24_000)
    try source.play([ramp], into: [])
    #expect(await Eventually.holds { (recorder.connections(of: "rack:out_1")).count == 1 })
    try await Task.sleep(nanoseconds: 100_000_000)
    let begin = backline_now()
    try end(rack)
    let ending = try rack.runner.wait(JACKRack.patience)
    #expect(backline_now() - begin < 2_000_000_000)
    #expect(ending.status == 0)
    #expect(ending.output.split(separator: "\n").last == "state stopped")
    let heard = try await take.samples()
    let peak = Signals.peak(heard[0])
    #expect(peak > 0.01)
    // Ramped over 10 ms: no step beyond the sine's own and the ramp's.
    let bound: Float = peak * (2 * .pi * 100 / 48_000 + 1 / 480) + 1e-4
    #expect(Signals.largestStep(heard[0]) <= bound)
    #expect(heard[0].suffix(480).allSatisfy { $0 == 0 })
    // The other client was heard without a gap of more than a period.
    let steps = zip(heard[1], heard[1].dropFirst()).map { Int((($1 - $0) * 65_536).rounded()) }
    let playing = steps.drop { $0 != 1 }
    #expect(playing.allSatisfy { $0 == 1 || abs($0) <= 257 || $0 < 0 }, "a gap of more than a period")
    #expect(playing.filter { $0 != 1 }.count <= 2)
    source.close()
    recorder.close()
  }
}
