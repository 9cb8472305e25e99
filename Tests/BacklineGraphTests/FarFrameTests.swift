import BacklineEngine
import BacklineRealtime
import BacklineTestSupport
import CBackline
import Testing

/// JACK counts frames in 32 bits, which wrap after 24.8 hours at 48 kHz; nothing here may use that counter.
@Suite("Frames beyond 32 bits")
struct FarFrameTests {
  /// 48 000 frames before the first, the second and a far later wrap of a 32-bit counter.
  static let starts: [Int64] = [1 << 31, 1 << 32, 2 << 32, 1 << 45].map { $0 - 48_000 }

  @Test("the clock tells 64-bit frames across a wrap, without a step (U-11)", arguments: starts)
  func clock(start: Int64) {
    let clock = FrameClock()
    let began: Int64 = 1_000_000_000_000
    for cycle in 0..<Int64(10 * 48_000 / 256) {
      let frame = cycle * 256
      clock.update(frame: start + frame, time: began + frame * 1_000_000_000 / 48_000, sampleRate: 48_000)
      for ahead: Int64 in [128, 96_000] {
        let time = began + (frame + ahead) * 1_000_000_000 / 48_000
        let told = clock.frame(at: time) ?? .min
        #expect((told - (start + frame + ahead)).magnitude <= 1)
      }
    }
  }

  @Test("an edit and a value for two seconds ahead act at their frames across a wrap (U-11)", arguments: starts)
  func schedule(start: Int64) async throws {
    let harness = try await EngineHarness(startFrame: start)
    try await harness.perform([
      .add(kind: "gain", name: "g", values: []), .connect(Endpoint("input"), Endpoint("g")),
      .connect(Endpoint("g"), Endpoint("output")),
    ])
    _ = harness.render([[Float](repeating: 0, count: 4_800)])
    await harness.settle()
    let now = await harness.engine.currentFrame
    #expect(now > start && now < start + 48_000)
    let mute = now + 96_000, disconnect = now + 97_920
    try await harness.perform([.set(node: "g", parameter: 0, value: -96, ramp: 0)], at: mute)
    try await harness.perform([.disconnect(Endpoint("input"), Endpoint("g"))], at: disconnect)
    let ones = [Float](repeating: 1, count: 240_000)
    let output = harness.render([ones, ones], cuts: [256])[0]
    let silence = try #require(output.firstIndex { $0 == 0 })
    #expect(silence == 96_000)
    #expect(output[..<silence].allSatisfy { $0 == 1 } && output[silence...].allSatisfy { $0 == 0 })
    await harness.engine.flush()
    #expect(await harness.engine.currentFrame == now + 240_000)
    #expect(await harness.engine.connectionCount == 1)
    #expect(await harness.engine.counts.lateEvents == 0)
  }
}
