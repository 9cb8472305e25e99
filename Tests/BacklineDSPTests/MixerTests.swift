import BacklineDSP
import BacklineRealtime
import BacklineTestSupport
import CBackline
import Testing

@Suite("Mixer")
struct MixerTests {
  private func constant(_ value: Float, frames: Int = 1000) -> [[Float]] {
    [[Float]](repeating: [Float](repeating: value, count: frames), count: 2)
  }

  @Test("the output is the sum of the inputs by volume and balance, times the output volume")
  func sum() {
    let mixer = UnitHarness(
      Mixer.description,
      parameters: ["outputVolume": 0.5, "input0Volume": 0.5, "input1Pan": -1, "input2Pan": 0.5, "input2Volume": 0.25])
    let output = mixer.render([constant(1), constant(8), constant(16)])[0]
    #expect(output[0].allSatisfy { $0 == 0.5 * (0.5 + 8 + 2) })
    #expect(output[1].allSatisfy { $0 == 0.5 * (0.5 + 0 + 4) })
  }

  @Test("one input at full volume in the middle passes bit by bit")
  func unity() {
    let left = Signals.noise(frames: 1000, seed: 1), right = Signals.noise(frames: 1000, seed: 2)
    #expect(UnitHarness(Mixer.description).render([[left, right]]) == [[left, right]])
  }

  @Test("inputs beyond the first page of strips are mixed and set as any other")
  func manyInputs() {
    let inputs = [[[Float]]](repeating: constant(1, frames: 100), count: 130)
    let output = UnitHarness(Mixer.description, parameters: ["input129Volume": 0.5]).render(inputs)[0][0]
    #expect(output.allSatisfy { $0 == 129.5 })
  }

  @Test("a set for an input that there is no room for changes nothing")
  func setBeyond() {
    let mixer = UnitHarness(Mixer.description)
    for index in [-1, 3 + 2 * 64, 1 + 2 * 4096, Int(Int32.max)] {
      mixer.instance.functions.set(mixer.instance.state, Int32(index), 0, 0)
    }
    mixer.instance.reserveInputs?(1_000_000)
    #expect(mixer.render([constant(1)])[0][0].allSatisfy { $0 == 1 })
  }

  @Test("a ramp goes on while its input is silent")
  func rampThroughSilence() {
    let mixer = UnitHarness(Mixer.description)
    let events: [UnitHarness.Event] = [.init(100, "input0Volume", 0, ramp: 400)]
    let half = [Float](repeating: 0, count: 300) + [Float](repeating: 1, count: 700)
    mixer.announcesSilence = true
    let output = mixer.render([[half, half], constant(1)], cuts: [50], events: events)[0][0]
    #expect(output[0..<300].allSatisfy { $0 == 1 })
    #expect(abs(output[300] - 1.5) < 1e-4)
    #expect(output[500...].allSatisfy { $0 == 1 })
  }

  @Test("without an input, and with silent ones only, old samples are cleared and the output is marked silent")
  func nothing() {
    let mixer = UnitHarness(Mixer.description)
    let functions = mixer.instance.functions
    let channels = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 2)
    for channel in 0..<2 { (channels + channel).initialize(to: SampleMemory.allocate(64)) }
    defer {
      for channel in 0..<2 { SampleMemory.free(channels[channel]) }
      channels.deallocate()
    }
    mixer.instance.reserveInputs?(1)
    for silentInputs in 0...1 {
      for channel in 0..<2 { channels[channel].update(repeating: 5, count: 64) }
      var output = BusBuffer(channels: channels, channelCount: 2, isConnected: true, isSilent: false)
      var input = BusBuffer(channels: channels, channelCount: 2, isConnected: true, isSilent: true)
      withUnsafeMutablePointer(to: &output) { output in
        withUnsafePointer(to: &input) { input in
          var block = RenderBlock(
            frame: 0, frameCount: 64, inputCount: Int32(silentInputs), outputCount: 1, inputs: input, outputs: output)
          if silentInputs == 1 { functions.accumulate?(mixer.instance.state, 0, true, &block) }
          functions.render(mixer.instance.state, &block)
        }
      }
      #expect(output.isSilent)
      #expect((0..<64).allSatisfy { channels[0][$0] == 0 && channels[1][$0] == 0 })
    }
  }
}
