import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Amplifier")
struct AmplifierTests {
  private func render(_ parameters: [String: Float], _ signal: [Float], rate: Double = 48_000) -> [Float] {
    UnitHarness(Amplifier.description, sampleRate: rate, parameters: parameters).render([[signal, signal]])[0][0]
  }

  /// The magnitude of the network at a frequency by its nodes' equations, from the components alone.
  private func network(treble: Double, middle: Double, bass: Double, frequency: Double) -> Double {
    let w = 2 * .pi * frequency
    var admittances = [[Complex]](repeating: [Complex](repeating: Complex(0, 0), count: 7), count: 6)
    // Nodes: 0 top of the treble control, 1 its wiper (the output), 2 its foot, 3 foot of the bass control, 4 wiper of the
    // middle control, 5 behind the slope resistor; -1 is the input, -2 ground.
    func connect(_ a: Int, _ b: Int, _ y: Complex) {
      for (from, to) in [(a, b), (b, a)] where from >= 0 {
        admittances[from][from] = admittances[from][from] + y
        if to >= 0 { admittances[from][to] = admittances[from][to] - y }
        if to == -1 { admittances[from][6] = admittances[from][6] + y }
      }
    }
    func resistor(_ ohms: Double) -> Complex { Complex(1 / max(ohms, 1e-6), 0) }
    let bassPart = backline_exp((bass - 1) * 3.4)
    connect(-1, 0, Complex(0, w * 250e-12))
    connect(-1, 5, resistor(56e3))
    connect(5, 2, Complex(0, w * 20e-9))
    connect(5, 4, Complex(0, w * 20e-9))
    connect(0, 1, resistor((1 - treble) * 250e3))
    connect(1, 2, resistor(treble * 250e3))
    connect(2, 3, resistor(bassPart * 1e6))
    connect(3, 4, resistor((1 - middle) * 25e3))
    connect(4, -2, resistor(middle * 25e3))
    for pivot in 0..<6 {
      for row in 0..<6 where row != pivot {
        let factor = admittances[row][pivot] / admittances[pivot][pivot]
        for column in pivot..<7 {
          admittances[row][column] = admittances[row][column] - factor * admittances[pivot][column]
        }
      }
    }
    return (admittances[1][6] / admittances[1][1]).magnitude
  }

  @Test(
    "the tone stack is the network of its components within 0.05 dB up to 10 kHz",
    arguments: [44_100.0, 48_000, 96_000])
  func toneStack(rate: Double) {
    var worst = 0.0
    for (treble, middle, bass) in [(0.5, 0.5, 0.5), (1, 0.01, 1), (0, 1, 0), (0.8, 0.2, 0.4)] {
      var stack = ToneStack()
      stack.move(to: .init(treble: treble, middle: middle, bass: bass, sampleRate: 4 * rate), over: 0)
      let frames = 1 << 16
      let response = (0..<frames).map { Float(stack.next(SIMD2($0 == 0 ? 1 : 0, 0)).x) }
      for frequency in [30.0, 100, 400, 1000, 3000, 10_000] {
        // Of an impulse, the amplitude of a line is 2 / length.
        let found = Signals.amplitude(of: frequency, in: response, sampleRate: 4 * rate) * Double(frames) / 2
        let expected = network(treble: treble, middle: middle, bass: bass, frequency: frequency)
        worst = max(worst, abs(Spectra.decibels(found / expected)))
      }
    }
    #expect(worst < 0.05, "\(worst) dB")
    print("measured: amplifier tone stack against its network, \(rate) Hz: \(worst) dB")
  }

  @Test(
    "the supply sags under a long tone and comes back, with the stated times", arguments: [44_100.0, 48_000, 96_000])
  func sag(rate: Double) {
    let tone = Signals.sine(500, frames: Int(rate), amplitude: 1, sampleRate: rate)
    let parameters: [String: Float] = ["master": 100, "gain": 100, "presence": 0, "outputGain": 0]
    let stiff = render(parameters.merging(["sag": 0]) { $1 }, tone, rate: rate)
    let soft = render(parameters.merging(["sag": 100]) { $1 }, tone, rate: rate)
    func peak(_ output: [Float], _ time: Double) -> Float {
      Signals.peak(output[Int(time * rate)..<Int((time + 0.004) * rate)])
    }
    let early = peak(soft, 0.002) / peak(stiff, 0.002), late = peak(soft, 0.5) / peak(stiff, 0.5)
    #expect(early > 0.8 && late > 0.47 && late < 0.62, "\(early) \(late)")
    print("measured: amplifier headroom under a steady tone at full sag, \(rate) Hz: \(late) of full")
  }

  @Test("channels and gain add distortion")
  func distortion() {
    func harmonics(_ channel: Float, _ gain: Float) -> Double {
      let output = render(
        ["channel": channel, "gain": gain, "sag": 0], Signals.sine(500, frames: 24_000, amplitude: 0.05))
      let lines = Spectra.lines(output.suffix(960))
      let overtones = (2...20).reduce(0.0) { $0 + lines[$1 * 10] * lines[$1 * 10] }
      return backline_sqrt(overtones) / lines[10]
    }
    #expect(harmonics(0, 20) < 0.05)
    #expect(harmonics(1, 60) > 3 * harmonics(0, 60))
    #expect(harmonics(2, 80) > harmonics(1, 40))
  }

  @Test(
    "aliases of a 5 kHz tone lie below -80 dB on every channel", arguments: [0, 1, 2] as [Float],
    [44_100.0, 48_000, 96_000])
  func aliases(channel: Float, rate: Double) {
    let tone = Signals.sine(5000, frames: Int(rate / 2), amplitude: 0.3, sampleRate: rate)
    let output = render(["channel": channel, "gain": 70], tone, rate: rate)
    // The band that the way down keeps whole: 20 kHz at 48 kHz.
    let alias = Spectra.worstAlias(
      output, frequency: 5000, sampleRate: Int(rate), limit: min(20_000, 0.417 * rate))
    #expect(alias < -80, "channel \(channel): \(alias)")
    print("measured: amplifier worst alias of 5 kHz on channel \(Int(channel)) at \(Int(rate)) Hz: \(alias) dB")
  }
}

/// A complex number, as far as it is needed here.
private struct Complex {
  var real: Double
  var imaginary: Double

  init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  var magnitude: Double { backline_sqrt(real * real + imaginary * imaginary) }

  static func + (a: Complex, b: Complex) -> Complex { Complex(a.real + b.real, a.imaginary + b.imaginary) }
  static func - (a: Complex, b: Complex) -> Complex { Complex(a.real - b.real, a.imaginary - b.imaginary) }
  static func * (a: Complex, b: Complex) -> Complex {
    Complex(a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real)
  }
  static func / (a: Complex, b: Complex) -> Complex {
    let square = b.real * b.real + b.imaginary * b.imaginary
    return Complex(
      (a.real * b.real + a.imaginary * b.imaginary) / square, (a.imaginary * b.real - a.real * b.imaginary) / square)
  }
}
