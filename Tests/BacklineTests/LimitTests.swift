import Backline
import BacklineEngine
import BacklineTestSupport
import Glibc
import Testing

/// What the system does not give, and numbers that mean nothing, are errors: no call traps.
@Suite("Nothing left, and numbers out of the world")
struct LimitTests {
  @Test("an engine without descriptors left is an error of its making")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      allowDescriptors(0)
      #expect(code { _ = try AudioEngine(EngineConfiguration(output: .timer())) } == .limitReached)
      // Some are free, but not enough: what was taken is given back each time.
      for count in 1...3 {
        for _ in 0..<20 {
          allowDescriptors(count)
          let error = code { _ = try AudioEngine(EngineConfiguration(output: .timer())) }
          #expect(error == (count < 3 ? .limitReached : nil))
          allowDescriptors(64)
        }
      }
    }
  }

  @Test(
    "a node and a tap for which no memory is left are errors, and the engine goes on",
    .disabled(if: ProcessLimits.areBlurred, "a sanitizer's own memory would count, too"))
  func memory() async {
    await #expect(processExitsWith: .success) {
      let rig = try Rig(sampleRate: 192_000)
      let engine = rig.engine
      let source = SourceNode(format: AudioFormat(sampleRate: 192_000, channelCount: 32)) { _ in }
      try engine.attach(source)
      try engine.connect(source, to: engine.mainMixerNode)
      // The taps' thread is there from now on.
      try source.installTap(frameCount: 64) { _ in }
      try source.removeTap()
      try engine.start()
      ProcessLimits.allowMemory(8 << 20)
      let errors = [
        code { try engine.attach(UnitNode("looper")) }, code { try source.installTap(frameCount: 384_000) { _ in } },
      ]
      ProcessLimits.allowMemory(nil)
      #expect(errors == [.limitReached, .limitReached])
      _ = try rig.render(64)
      try engine.attach(UnitNode("looper"))
      try source.installTap(frameCount: 384_000) { _ in }
      #expect(engine.isRunning)
      engine.stop()
    }
  }

  @Test(
    "a rate for which no memory is left is refused with the reason, and taken when there is",
    .disabled(if: ProcessLimits.areBlurred, "a sanitizer's own memory would count, too"))
  func memoryForRate() async {
    await #expect(processExitsWith: .success) {
      let host = OfflineHost(sampleRate: 48_000)
      let engine = try AudioEngine(EngineConfiguration(output: .host(host)))
      let looper = try UnitNode("looper")
      try engine.attach(looper)
      try engine.connect(looper, to: engine.mainMixerNode)
      try engine.start()
      ProcessLimits.allowMemory(8 << 20)
      host.sampleRate = 192_000
      host.send(.sampleRateChanged(192_000))
      let isRefused = await Eventually.holds {
        if case .unavailable(let reason) = engine.state { reason.contains("memory") } else { false }
      }
      ProcessLimits.allowMemory(nil)
      #expect(isRefused, "\(engine.state)")
      try engine.start()
      #expect(engine.isRunning && engine.sampleRate == 192_000)
      #expect(host.cycle([], frames: 64).first?.count == 64)
      engine.stop()
    }
  }

  @Test("times, ramps and lengths at the ends of what a number holds are taken or refused")
  func numbers() throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    try player.schedule(Sounds.buffer(Sounds.ramp(64)))
    for time in [Int64.min, -1, Int64.max] {
      for rate in [0, -1, 48_000, 44_100, 1e-300, .nan, .infinity] as [Double] {
        let moment = AudioTime(sampleTime: time, sampleRate: rate, hostTime: time)
        try player.schedule(Sounds.buffer(Sounds.ramp(8)), at: moment)
        try player.play(at: moment)
        _ = try rig.render(64)
        _ = player.nodeTime(forPlayerTime: moment)
        _ = player.playerTime(forNodeTime: moment)
        _ = moment.extrapolated(from: AudioTime(sampleTime: ~time, sampleRate: 48_000, hostTime: ~time))
        _ = AudioTime(hostTime: time).extrapolated(from: moment)
      }
      #expect(code { try player.play(at: AudioTime(hostTime: time)) } == .notRunning)
    }
    let reverb = try UnitNode("reverb")
    try rig.engine.attach(reverb)
    for ramp in [-1, 0, 1e300, .nan, .infinity] as [Double] { try reverb.set("wetDryMix", to: 20, ramp: ramp) }
    var configuration = EngineConfiguration(inputChannelCount: -5, outputChannelCount: 1_000, rampTime: .nan)
    #expect(configuration.inputChannelCount == 1 && configuration.outputChannelCount == 32)
    configuration.inputChannelCount = .max
    configuration.outputChannelCount = .min
    configuration.rampTime = .infinity
    #expect(configuration.inputChannelCount == 32 && configuration.outputChannelCount == 1)
    #expect(configuration.rampTime == 0.01)
    #expect(PCMBuffer(format: rig.format, frameCapacity: .max) == nil)
    let all = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    #expect(PCMBuffer(format: rig.format, frameCapacity: all / 8) == nil)
    #expect(code { try reverb.installTap(frameCount: .min) { _ in } } == .outOfRange)
    #expect(code { try reverb.installTap(bus: .max, frameCount: 64) { _ in } } == .noSuchBus)
    #expect(rig.engine.isRunning)
  }
}

/// Lets this process open so many descriptors beside those that it has.
private func allowDescriptors(_ count: Int) {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  // The lowest numbers that are free are those that come next.
  var free = 0, next: Int32 = 0
  while free < count || fcntl(next, F_GETFD) >= 0 {
    if fcntl(next, F_GETFD) < 0 { free += 1 }
    next += 1
  }
  limit.rlim_cur = rlim_t(next)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
