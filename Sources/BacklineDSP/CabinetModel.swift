import CBackline
import Synchronization

/// How the impulse responses of the cabinets are made: out of the physics that shape them, so that every rate has its own and
/// none is a recording of anybody's.
///
/// A response is an impulse through minimum-phase sections, each after Bristow-Johnson's cookbook:
/// - the closed box: a high-pass of the second order at the resonance, with the Q of the driver in that box (Small,
///   "Closed-box loudspeaker systems", JAES 20, 1972); an open back adds a high-pass of the first order, where front and back cancel;
/// - the cone: a rise where it breaks up, then a low-pass of the fourth order, as guitar loudspeakers have them around 5 kHz;
/// - the microphone: its bass lift from near by, and its presence rise or its soft top;
///
/// and, for cabinets with several drivers, the sum of the near one and its neighbours, which come later and weaker by their way
/// (343 m/s; level as 1 / distance) and duller by their angle. The level is set so that the mean power gain from 200 Hz to 2 kHz
/// is 1.
enum CabinetModel {
  static let names = ["1x12 open", "2x12 open", "4x12 closed", "1x15 bass", "8x10 bass"]
  static let microphones = ["dynamic", "ribbon", "condenser"]

  /// One kind of cabinet.
  struct Box {
    /// The resonance in Hz, and its Q.
    var resonance: Double
    var q: Double
    /// The corner of the open back in Hz, 0 for a closed one.
    var back: Double
    /// The break-up of the cone: Hz and dB.
    var breakUp: Double
    var rise: Double
    /// The corner of the cone in Hz.
    var top: Double
    /// The distances of the neighbours from the near driver, in metres.
    var neighbours: [Double]
  }

  static func box(_ model: Int) -> Box {
    switch model {
    case 0: Box(resonance: 85, q: 0.9, back: 140, breakUp: 2700, rise: 6, top: 5200, neighbours: [])
    case 1: Box(resonance: 80, q: 0.9, back: 110, breakUp: 2900, rise: 5, top: 5500, neighbours: [0.34])
    case 2: Box(resonance: 110, q: 1.2, back: 0, breakUp: 3200, rise: 5, top: 4800, neighbours: [0.33, 0.35, 0.48])
    case 3: Box(resonance: 50, q: 0.8, back: 0, breakUp: 1800, rise: 3, top: 3500, neighbours: [])
    default:
      Box(resonance: 62, q: 0.7, back: 0, breakUp: 2200, rise: 4, top: 4500, neighbours: [0.27, 0.28, 0.39, 0.54])
    }
  }

  /// The distance of the microphone in metres.
  static let distance = 0.08
  /// The length of a response in seconds.
  static let seconds = 0.04

  /// The sections of a driver and a microphone, in series.
  static func sections(_ model: Int, microphone: Int, sampleRate: Double) -> [BiquadCoefficients] {
    let box = box(model)
    func section(_ type: EqualizerFilterType, _ frequency: Double, gain: Double = 0, q: Double) -> BiquadCoefficients {
      BiquadCoefficients(type, frequency: frequency, gain: gain, q: q, sampleRate: sampleRate)
    }
    var sections = [section(.resonantHighPass, box.resonance, q: box.q)]
    if box.back > 0 { sections.append(firstOrderHighPass(box.back, sampleRate)) }
    sections.append(section(.parametric, box.breakUp, gain: box.rise, q: 1.2))
    // The two halves of a Butterworth low-pass of the fourth order.
    sections.append(section(.resonantLowPass, box.top, q: 0.541_196_1))
    sections.append(section(.resonantLowPass, box.top, q: 1.306_563))
    switch microphone {
    case 0:
      sections.append(section(.resonantLowShelf, 180, gain: 3, q: 0.6))
      sections.append(section(.parametric, 5000, gain: 5, q: 0.9))
    case 1:
      sections.append(section(.resonantLowShelf, 250, gain: 5, q: 0.6))
      sections.append(section(.resonantHighShelf, 6000, gain: -6, q: 0.6))
    default: sections.append(section(.resonantHighShelf, 9000, gain: 3, q: 0.7))
    }
    return sections
  }

  private static let known = Mutex<[Double: [[Float]]]>([:])

  /// All responses at a sample rate, microphone by microphone for each model: made once a rate. Control threads.
  static func responses(sampleRate: Double) -> [[Float]] {
    known.withLock { known in
      if let responses = known[sampleRate] { return responses }
      let responses = names.indices.flatMap { model in
        microphones.indices.map { response(model, microphone: $0, sampleRate: sampleRate) }
      }
      known[sampleRate] = responses
      return responses
    }
  }

  /// The response in frames of `sampleRate`.
  static func response(_ model: Int, microphone: Int, sampleRate: Double) -> [Float] {
    let count = Int(seconds * sampleRate)
    let near = filter(impulse(count), sections(model, microphone: microphone, sampleRate: sampleRate))
    var sum = near
    for way in box(model).neighbours {
      let path = backline_sqrt(way * way + distance * distance)
      let delay = Int((path - distance) / 343 * sampleRate + 0.5)
      // Off its axis a cone of this size has little above 2 kHz.
      let dull = filter(
        near,
        [BiquadCoefficients(.resonantLowPass, frequency: 2000, gain: 0, q: backline_sqrt(0.5), sampleRate: sampleRate)])
      for i in delay..<max(delay, count) { sum[i] += dull[i - delay] * distance / path }
    }
    // The last quarter is faded, where next to nothing is left.
    for i in count * 3 / 4..<count { sum[i] *= Double(count - i) / Double(count - count * 3 / 4) }
    let level = 1 / backline_sqrt(meanPower(sum, sampleRate))
    return sum.map { Float($0 * level) }
  }

  private static func impulse(_ count: Int) -> [Double] {
    var impulse = [Double](repeating: 0, count: count)
    impulse[0] = 1
    return impulse
  }

  private static func filter(_ signal: [Double], _ sections: [BiquadCoefficients]) -> [Double] {
    sections.reduce(signal) { signal, section in
      var (s1, s2) = (0.0, 0.0)
      return signal.map { x in
        let y = section.b0 * x + s1
        s1 = section.b1 * x - section.a1 * y + s2
        s2 = section.b2 * x - section.a2 * y
        return y
      }
    }
  }

  private static func firstOrderHighPass(_ frequency: Double, _ sampleRate: Double) -> BiquadCoefficients {
    let k = backline_tan(.pi * frequency / sampleRate)
    return BiquadCoefficients(b0: 1 / (1 + k), b1: -1 / (1 + k), b2: 0, a1: (k - 1) / (k + 1), a2: 0)
  }

  /// The mean of the squared magnitude at 41 frequencies from 200 Hz to 2 kHz, equal ratios apart.
  private static func meanPower(_ response: [Double], _ sampleRate: Double) -> Double {
    var sum = 0.0
    for step in 0..<41 {
      let angle = 2 * .pi * 200 * backline_pow(10, Double(step) / 40) / sampleRate
      let coefficient = 2 * backline_cos(angle)
      var (one, two) = (0.0, 0.0)
      for sample in response { (one, two) = (sample + coefficient * one - two, one) }
      sum += one * one + two * two - coefficient * one * two
    }
    return sum / 41
  }
}
