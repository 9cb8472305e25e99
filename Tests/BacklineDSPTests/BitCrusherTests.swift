import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Bit crusher")
struct BitCrusherTests {
  private func render(_ parameters: [String: Float], _ signal: [Float], rate: Double = 48_000) -> [Float] {
    UnitHarness(BitCrusher.description, sampleRate: rate, parameters: parameters).render([[signal, signal]])[0][0]
  }

  @Test(
    "the noise of rounding lies 6.02 dB a bit and 1.76 dB below a full tone", arguments: [44_100.0, 48_000, 96_000])
  func noise(rate: Double) {
    for bits: Float in [6, 8, 12] {
      // Just below full scale, at a frequency without a simple ratio to the rate.
      let tone = Signals.sine(997.13, frames: 48_000, amplitude: 0.999, sampleRate: rate)
      let output = render(["bitDepth": bits, "holdRate": 192_000], tone, rate: rate)
      let error = zip(output, tone).map { $0 - $1 }
      let ratio = Spectra.decibels(Double(Signals.rms(tone) / Signals.rms(error)))
      #expect(abs(ratio - (6.0206 * Double(bits) + 1.76)) < 0.3, "\(bits) bits: \(ratio) dB")
      print("measured: bitCrusher noise at \(bits) bits, \(rate) Hz: \(-ratio) dB")
    }
  }

  @Test("samples are held for exactly their time", arguments: [44_100.0, 48_000, 96_000])
  func holding(rate: Double) {
    let ramp = (0..<Int(rate)).map { Float($0) / Float(rate) }
    let output = render(["bitDepth": 24, "holdRate": 6000], ramp, rate: rate)
    let changes = zip(output, output.dropFirst()).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
    #expect(changes == 5999)
  }

  @Test("all is as it was at 24 bits and the full rate, within half a step")
  func transparent() {
    let noise = Signals.noise(frames: 4800)
    let output = render(["bitDepth": 24, "holdRate": 192_000], noise)
    #expect(zip(noise, output).allSatisfy { abs($0 - $1) <= 0x1p-23 })
  }
}
