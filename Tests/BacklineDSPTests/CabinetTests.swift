import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Cabinet")
struct CabinetTests {
  private func response(_ model: Int, _ microphone: Int, rate: Double) -> [Float] {
    UnitHarness(
      Cabinet.description, sampleRate: rate, parameters: ["model": Float(model), "microphone": Float(microphone)]
    ).render([[Signals.impulse(frames: Int(rate / 10)), []]])[0][0]
  }

  private func decibels(_ response: [Float], _ frequency: Double, _ rate: Double) -> Double {
    Spectra.decibels(Signals.amplitude(of: frequency, in: response, sampleRate: rate) * Double(response.count) / 2)
  }

  /// The squared magnitude of analogue sections of the second order, from their formulas.
  private func analogue(_ model: Int, _ frequency: Double) -> Double {
    let box = CabinetModel.box(model)
    func highPass(_ corner: Double, _ q: Double) -> Double {
      let x = frequency / corner, real = 1 - x * x
      return x * x * x * x / (real * real + x * x / (q * q))
    }
    func peak(_ centre: Double, _ gain: Double, _ q: Double) -> Double {
      let x = frequency / centre, real = (1 - x * x) * (1 - x * x), a = backline_pow(10, gain / 40)
      return (real + x * x * a * a / (q * q)) / (real + x * x / (a * a * q * q))
    }
    let back = box.back > 0 ? 1 / (1 + box.back * box.back / (frequency * frequency)) : 1
    let top = 1 / (1 + backline_pow(frequency / box.top, 8))
    // The dynamic microphone's presence; its shelf is flat from 1 kHz on.
    return highPass(box.resonance, box.q) * back * peak(box.breakUp, box.rise, 1.2) * top * peak(5000, 5, 0.9)
  }

  @Test("a single driver's response is the product of its sections' formulas", arguments: [44_100.0, 48_000, 96_000])
  func formula(rate: Double) {
    var worst = 0.0
    for model in [0, 3] {
      let response = response(model, 0, rate: rate)
      let reference = decibels(response, 1000, rate)
      for frequency in [1500.0, 2000, 3000, 4000, 6000] {
        let expected = 10 * backline_log(analogue(model, frequency) / analogue(model, 1000)) / backline_log(10)
        worst = max(worst, abs(decibels(response, frequency, rate) - reference - expected))
      }
    }
    // What the bilinear transform makes of it at the low rates.
    #expect(worst < (rate > 90_000 ? 0.5 : 1.8))
    print("measured: cabinet against its analogue formula up to 6 kHz, \(rate) Hz: \(worst) dB")
  }

  @Test(
    "all cabinets are about equally loud in the middle and roll off at both ends", arguments: CabinetModel.names.indices
  )
  func shape(model: Int) {
    for microphone in CabinetModel.microphones.indices {
      let response = response(model, microphone, rate: 48_000)
      let middle = stride(from: 0, through: 20, by: 1).reduce(0.0) {
        let level = decibels(response, 200 * backline_pow(10, Double($1) / 20), 48_000)
        return $0 + backline_pow(10, level / 10) / 21
      }
      #expect(abs(10 * backline_log(middle) / backline_log(10)) < 0.5)
      #expect(decibels(response, 20, 48_000) < -6 && decibels(response, 15_000, 48_000) < -20)
      #expect(response.last == 0)
    }
  }

  @Test("a change of cabinet does not click, and many in a row end at the last")
  func change() {
    let tone = Signals.sine(200, frames: 48_000, amplitude: 0.5)
    let events = (0..<20).map {
      UnitHarness.Event(9001 + 700 * $0, $0 % 3 == 0 ? "microphone" : "model", Float($0 % 3))
    }
    let unit = UnitHarness(Cabinet.description)
    let output = unit.render([[tone, tone]], events: events)[0][0]
    #expect(Signals.largestStep(Array(output[4800...])) < 0.06)
    let last = UnitHarness(Cabinet.description, parameters: ["model": 1, "microphone": 0]).render([[tone, tone]])[0][0]
    #expect(zip(output.suffix(9600), last.suffix(9600)).allSatisfy { abs($0 - $1) < 1e-5 })
  }
}
