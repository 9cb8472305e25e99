import Backline
import BacklineTestSupport
import Glibc
import Testing

@Suite("Speed, pitch and place")
struct RateNodeTests {
  /// What a player of a tone of 1 000 Hz gives behind a node.
  private func heard(_ node: RateNode, seconds: Double) throws -> [Float] {
    let rig = try Rig()
    let player = PlayerNode()
    try rig.engine.attach(player)
    try rig.engine.attach(node)
    try rig.engine.connect(player, to: node)
    try rig.engine.connect(node, to: rig.engine.mainMixerNode)
    try rig.engine.start()
    try player.schedule(Sounds.buffer(Signals.sine(1_000, frames: 48_000, amplitude: 0.5)))
    try player.play()
    return try rig.render(Int(48_000 * seconds), cuts: [4_096])[0]
  }

  private func frequency(_ samples: ArraySlice<Float>) -> Double {
    let crossings = zip(samples, samples.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
    return Double(crossings) * 48_000 / Double(samples.count)
  }

  @Test("a varispeed node changes speed and pitch together, to the exact length")
  func varispeed() throws {
    for rate in [Float(0.5), 1, 1.5, 2] {
      let node = VarispeedNode()
      node.rate = rate
      let out = try heard(node, seconds: 2.5)
      let length = Int((48_000 / rate).rounded())
      #expect(abs(frequency(out[4_800..<length - 4_800]) - 1_000 * Double(rate)) < 15)
      #expect(out[length...].allSatisfy { $0 == 0 })
      #expect(Signals.peak(out[length - 4_800..<length - 200]) > 0.3)
    }
  }

  @Test("a time-pitch node changes speed and pitch apart from each other")
  func timePitch() throws {
    for (rate, pitch) in [(Float(0.5), Float(0)), (2, 0), (1, 1_200), (1.25, -700)] {
      let node = TimePitchNode()
      node.rate = rate
      node.pitch = pitch
      let out = try heard(node, seconds: 2.5)
      let length = Int((48_000 / rate).rounded())
      let expected = 1_000 * pow(2, Double(pitch) / 1_200)
      #expect(abs(frequency(out[4_800..<length - 4_800]) - expected) < expected * 0.02)
      #expect(out[length...].allSatisfy { $0 == 0 })
    }
  }

  @Test("what was scheduled comes to its end, once, and the next piece follows")
  func ends() async throws {
    let rig = try Rig()
    let player = PlayerNode(), node = TimePitchNode()
    node.rate = 2
    try rig.engine.attach(player)
    try rig.engine.attach(node)
    try rig.engine.connect(player, to: node)
    try rig.engine.connect(node, to: rig.engine.mainMixerNode)
    try rig.engine.start()
    let log = EventLog<PlaybackEnd>()
    for _ in 0..<2 {
      try player.schedule(Sounds.buffer(Signals.sine(500, frames: 9_600)), stage: .rendered) { log.append($0) }
    }
    try player.play()
    _ = try rig.render(9_600, cuts: [1_000])
    #expect(await Eventually.holds { log.all == [.played, .played] })
    #expect(player.position == 9_600 && player.underruns == 0)
  }

  @Test("a node of speed belongs right behind a player")
  func placement() throws {
    let rig = try Rig()
    let reverb = try UnitNode("reverb"), node = VarispeedNode()
    try rig.engine.attach(reverb)
    try rig.engine.attach(node)
    #expect(code { try rig.engine.connect(reverb, to: node) } == .notAllowed)
    node.rate = .nan
    #expect(node.rate == 0.25)
    node.rate = 99
    #expect(node.rate == 4)
  }

  @Test("an environment places a source of one channel by direction and distance, with equal power")
  func environment() throws {
    let rig = try Rig(rampTime: 0)
    let environment = EnvironmentNode()
    try rig.engine.attach(environment)
    let mono = AudioFormat(sampleRate: 48_000, channelCount: 1)
    let player = PlayerNode()
    try rig.engine.attach(player)
    try rig.engine.connect(player, to: environment, format: mono)
    try rig.engine.connect(environment, to: rig.engine.mainMixerNode)
    try rig.engine.start()
    try player.schedule(Sounds.buffer([Float](repeating: 0.5, count: 40_000), channels: 1))
    try player.play()
    // Where the source is, where the listener looks, and what the sides hear.
    let half = Float(0.5).squareRoot()
    let cases: [(AudioPosition, Float, Float, Float)] = [
      (AudioPosition(z: -1), 0, half, half), (AudioPosition(x: 1), 0, 0, 1), (AudioPosition(x: -1), 0, 1, 0),
      (AudioPosition(x: 1), 90, half, half), (AudioPosition(x: 4), 0, 0, 0.25),
      (AudioPosition(y: 2), 0, half / 2, half / 2),
    ]
    for (place, yaw, left, right) in cases {
      player.position3D = place
      environment.listenerYaw = yaw
      let out = try rig.render(512)
      #expect(abs(out[0][511] - 0.5 * left) < 1e-5 && abs(out[1][511] - 0.5 * right) < 1e-5)
    }
    try environment.setDistanceModel(DistanceModel(.linear, referenceDistance: 1, maximumDistance: 5))
    player.position3D = AudioPosition(x: 3)
    environment.listenerYaw = 0
    #expect(abs(try rig.render(512)[1][511] - 0.25) < 1e-5)
    #expect(code { try environment.setDistanceModel(DistanceModel(referenceDistance: 0)) } == .outOfRange)
    #expect(DistanceModel(.exponential, rolloffFactor: 2).gain(at: 2) == 0.25)
  }
}
