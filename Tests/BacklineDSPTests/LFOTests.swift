import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("LFO")
struct LFOTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func run(_ lfo: inout LFO, from frame: Int64 = 0, frames: Int) -> [Float] {
    (0..<frames).map { index in
      lfo.begin(at: frame + Int64(index))
      let value = lfo.value
      lfo.advance()
      return value
    }
  }

  /// Where a rising wave crosses zero, in frames with their fraction.
  private func crossings(_ values: [Float]) -> [Double] {
    values.indices.dropFirst().compactMap { i in
      let (a, b) = (values[i - 1], values[i])
      return a < 0 && b >= 0 ? Double(i - 1) + Double(-a / (b - a)) : nil
    }
  }

  @Test("the rate is exact to 0.1 %, free and by the tempo", arguments: rates)
  func rate(sampleRate: Double) throws {
    var worst = 0.0
    for (rate, division, tempo, hertz) in [
      (7.3, 0, 120, 7.3), (0.9, 0, 120, 0.9), (1, 8, 120, 2), (1, 11, 97, 97.0 / 30), (1, 12, 141, 7.05),
    ] as [(Float, Float, Float, Double)] {
      var lfo = LFO(sampleRate: sampleRate)
      lfo.set(.rate, to: rate, over: 0)
      lfo.set(.division, to: division, over: 0)
      lfo.set(.tempo, to: tempo, over: 0)
      let found = crossings(run(&lfo, frames: Int(sampleRate * 5)))
      let first = try #require(found.first), last = try #require(found.last)
      let measured = Double(found.count - 1) / (last - first) * sampleRate
      worst = max(worst, abs(measured / hertz - 1))
    }
    print("measured: LFO rate off by at most \(worst * 100) % at \(Int(sampleRate)) Hz")
    #expect(worst < 0.001)
  }

  @Test("the phase is that of an oscillator that has run since frame 0")
  func absolute() {
    var one = LFO(sampleRate: 48_000, rate: 3), other = LFO(sampleRate: 48_000, rate: 3)
    let early = run(&one, frames: 100_100)
    #expect(Array(early[100_000...]) == run(&other, from: 100_000, frames: 100))
    other.reset()
    #expect(Array(early[50_000..<50_100]) == run(&other, from: 50_000, frames: 100))
    var hour = LFO(sampleRate: 48_000, rate: 0.5)
    let late = run(&hour, from: 48_000 * 3600, frames: 96_000)
    #expect(abs(late[0]) < 1e-4 && abs(late[24_000] - 1) < 1e-4)
  }

  @Test("a change of the rate goes on from the phase reached, also along a ramp")
  func continuity() {
    var lfo = LFO(sampleRate: 48_000, rate: 2)
    var values = run(&lfo, frames: 10_000)
    lfo.set(.rate, to: 9, over: 480)
    values += run(&lfo, from: 10_000, frames: 5000)
    lfo.set(.division, to: 8, over: 0)
    values += run(&lfo, from: 15_000, frames: 5000)
    #expect(Signals.largestStep(values) < 2 * .pi * 9 / 48_000 * 1.001)
  }

  @Test("no shape jumps, and all stay within -1 and 1", arguments: LFOShape.names.indices)
  func smooth(shape: Int) {
    var lfo = LFO(sampleRate: 48_000, rate: 5, shape: Int32(shape))
    let values = run(&lfo, frames: 48_000)
    #expect(Signals.peak(values) <= 1)
    #expect(Signals.peak(values) > 0.5)
    // The steepest of the S-curve, from -1 to 1 in 4 ms.
    #expect(Signals.largestStep(values) < 1.5 * 2 / (0.004 * 48_000) * 1.01)
    lfo.set(.shape, to: Float((shape + 3) % LFOShape.names.count), over: 480)
    #expect(Signals.largestStep(run(&lfo, from: 48_000, frames: 4800)) < 0.03)
  }

  @Test("a second channel runs ahead by a part of a turn")
  func ahead() {
    for shape in LFOShape.names.indices {
      var lfo = LFO(sampleRate: 48_000, rate: 10, shape: Int32(shape))
      let quarter = LFO.phase(turns: 0.25)
      var second: [Float] = []
      var first: [Float] = []
      for frame in 0..<9600 {
        lfo.begin(at: Int64(frame))
        first.append(lfo.value)
        second.append(lfo.value(ahead: quarter))
        lfo.advance()
      }
      for (x, y) in zip(first[1200...], second) { #expect(abs(x - y) < 1e-4) }
    }
  }

  @Test("the divisions are those of notes")
  func divisions() {
    #expect(TempoDivision.beats(0) == 0)
    for (index, name) in TempoDivision.names.enumerated().dropFirst() {
      let parts = name.split(separator: "/")
      let bottom = parts[1].filter(\.isNumber)
      let suffix = parts[1].dropFirst(bottom.count)
      let factor = suffix == "D" ? 1.5 : suffix == "T" ? 2.0 / 3 : 1
      let beats = 4 * (Double(parts[0]) ?? 0) / (Double(bottom) ?? 1) * factor
      #expect(abs(TempoDivision.beats(Int32(index)) - beats) < 1e-12)
    }
  }
}
