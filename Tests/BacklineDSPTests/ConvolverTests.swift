import BacklineRealtime
import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Convolver")
struct ConvolverTests {
  /// Noise that dies away by 60 dB, of a sum of squares of 1.
  private func response(frames: Int, seed: UInt64) -> [Float] {
    let noise = Signals.noise(frames: frames, seed: seed)
    let decayed = noise.enumerated().map { $1 * backline_expf(-6.9 * Float($0) / Float(frames)) }
    let scale = 1 / (Signals.rms(decayed) * Float(backline_sqrt(Double(frames))))
    return decayed.map { $0 * scale }
  }

  private func harness(
    _ channels: [[Float]]?, rate: Double = 48_000, startFrame: Int64 = 0, parameters: [String: Float] = [:]
  ) throws -> UnitHarness {
    let harness = UnitHarness(Convolver.description, sampleRate: rate, parameters: parameters, startFrame: startFrame)
    if let channels {
      let control = try #require(harness.instance.control as? ConvolverControl)
      try control.attach(ImpulseResponse(channels))
    }
    return harness
  }

  @Test("equals the sum of products within -120 dB, from any frame on", arguments: [44_100.0, 48_000, 96_000])
  func direct(rate: Double) throws {
    var worst = -200.0
    for (length, start) in [
      (1, 0), (63, 5), (64, 32), (65, 0), (1000, 4095), (1500, 77), (9000, 100_000), (30_000, 12_345),
    ] {
      let left = response(frames: length, seed: 1), right = response(frames: length, seed: 2)
      let inputs = [Signals.noise(frames: 20_000, seed: 3), Signals.noise(frames: 20_000, seed: 4)]
      let output = try harness([left, right], rate: rate, startFrame: Int64(start)).render([inputs], frames: 40_000)[0]
      for (channel, taps) in [left, right].enumerated() {
        var error = 0.0, power = 0.0
        for frame in stride(from: 0, to: 40_000, by: 61) {
          let expected = Signals.convolution(inputs[channel], taps, at: frame)
          error += (Double(output[channel][frame]) - expected) * (Double(output[channel][frame]) - expected)
          power += expected * expected
        }
        worst = max(worst, 10 * backline_log(error / power) / backline_log(10))
      }
    }
    #expect(worst < -120)
    print("measured: convolver against direct convolution, \(rate) Hz: \(worst) dB")
  }

  @Test(
    "has no latency: an impulse gives the response from its own frame on", arguments: [44_100.0, 48_000, 96_000])
  func latency(rate: Double) throws {
    let taps = response(frames: 12_000, seed: 7)
    let output = try harness([taps], rate: rate).render(
      [[Signals.impulse(at: 333, frames: 334), []]], frames: 13_000)[0][0]
    let first = try #require(output.firstIndex { $0 != 0 })
    print("measured: convolver's latency \(first - 333) frames at \(Int(rate)) Hz")
    #expect(first == 333)
    let error = zip(output[333..<12_333], taps).map { $0 - $1 }
    #expect(Signals.peak(error) < 1e-7)
    #expect(output[12_400...].allSatisfy { abs($0) < 1e-7 })
  }

  @Test("true stereo sends each side to both")
  func trueStereo() throws {
    let taps = (0..<4).map { response(frames: 10_000, seed: UInt64(20 + $0)) }
    for (side, first) in [(0, 0), (1, 2)] {
      let impulse = Signals.impulse(frames: 1)
      let output = try harness(taps).render([side == 0 ? [impulse, []] : [[], impulse]], frames: 10_000)[0]
      for channel in 0..<2 {
        let error = zip(output[channel], taps[first + channel]).map { $0 - $1 }
        #expect(Signals.peak(error) < 1e-7)
      }
    }
  }

  @Test("keeps the contract of a unit with a long response inside", arguments: [44_100.0, 48_000, 96_000])
  func contract(rate: Double) throws {
    let taps = try ImpulseResponse([response(frames: 9001, seed: 1), response(frames: 9001, seed: 2)])
    let own = Convolver.description
    let description = UnitDescription(
      kind: "convolver", title: own.title, summary: own.summary, inputs: own.inputs, outputs: own.outputs,
      parameters: own.parameters,
      make: { format in
        let instance = own.make(format)
        do {
          try (instance.control as? ConvolverControl)?.attach(taps)
        } catch {
          Issue.record("\(error)")
        }
        return instance
      })
    let contract = UnitContract(description, sampleRate: rate)
    #expect(contract.cutInvariance() == [])
    #expect(contract.silenceAnnouncement() == [])
    #expect(contract.freshHasDefaults() == [])
    #expect(contract.resetEqualsFresh() == [])
    #expect(contract.silence() == [])
    #expect(contract.recovery() == [])
  }

  @Test("another response takes over without a click while the one before rings out")
  func replacing() throws {
    let unit = try harness([response(frames: 20_000, seed: 1)])
    let control = try #require(unit.instance.control as? ConvolverControl)
    let tone = Signals.sine(100, frames: 9600, amplitude: 0.5)
    var output = unit.render([[tone, tone]])[0][0]
    let step = Signals.largestStep(Array(output.suffix(2400)))
    try control.attach(ImpulseResponse([Signals.impulse(frames: 3000)]))
    output += unit.render([[tone, tone]])[0][0]
    // What the old response holds goes on: the new one alone would give the input.
    let afterwards = zip(output[9600 + 1000..<9600 + 2000], tone[1000..<2000]).map { $0 - $1 }
    #expect(Signals.rms(afterwards) > 1e-3)
    #expect(Signals.largestStep(Array(output.suffix(9700))) < 2 * step + 0.01)
    output = unit.render([[[], []]], frames: 20_000)[0][0]
    #expect(Signals.peak(output.suffix(5000)) == 0)
    // Three in a row: the newest counts.
    for gain: Float in [0.1, 0.2, 0.5] { try control.attach(ImpulseResponse([[gain]])) }
    output = unit.render([[tone, tone]])[0][0]
    #expect(zip(output.suffix(4000), tone.suffix(4000)).allSatisfy { abs($0 - 0.5 * $1) < 1e-6 })
    control.detach()
    output = unit.render([[tone, tone]])[0][0]
    #expect(Array(output.suffix(4000)) == Array(tone.suffix(4000)))
  }

  @Test("what is no impulse response is refused")
  func refusals() {
    #expect(throws: ImpulseResponseError.empty) { try ImpulseResponse([[]]) }
    #expect(throws: ImpulseResponseError.channels(33)) { try ImpulseResponse([[Float]](repeating: [1], count: 33)) }
    #expect(throws: ImpulseResponseError.channels(0)) { try ImpulseResponse([]) }
    #expect(throws: ImpulseResponseError.notFinite) { try ImpulseResponse([[1, .nan]]) }
    #expect(throws: ImpulseResponseError.unequalChannels) { try ImpulseResponse([[1], [1, 2]]) }
    #expect(throws: ImpulseResponseError.tooLong(frames: (1 << 21) + 1, limit: 1 << 21)) {
      try ImpulseResponse([[Float](repeating: 0, count: (1 << 21) + 1)])
    }
  }

  @Test(
    "a response for which no memory is left is an error that says so, and the one before stays",
    .disabled(if: ProcessLimits.areBlurred, "a sanitizer's own memory would count, too"))
  func noMemory() async {
    await #expect(processExitsWith: .success) {
      let harness = UnitHarness(Convolver.description, sampleRate: 48_000)
      let control = try #require(harness.instance.control as? ConvolverControl)
      try control.attach(ImpulseResponse([[1, 0.5]]))
      let long = try ImpulseResponse([[Float](repeating: 0.001, count: 1 << 21)])
      // What it takes is more than an arena of the C library's, which may be there already, has left.
      ProcessLimits.allowMemory(16 << 20)
      var error: ImpulseResponseError?
      do throws(ImpulseResponseError) { try control.attach(long) } catch let found { error = found }
      ProcessLimits.allowMemory(nil)
      #expect(error == .noMemory(frames: 1 << 21) && control.frameCount == 2)
      try control.attach(long)
      #expect(control.frameCount == 1 << 21)
    }
  }

  @Test("a response for which there is no Fourier transform is refused, not silent")
  func noTransform() {
    // FFTW has no plan where it has no memory, and none for nothing.
    #expect(throws: ImpulseResponseError.noTransform(frames: 0)) { try ConvolutionTransform.of(block: 0) }
  }
}
