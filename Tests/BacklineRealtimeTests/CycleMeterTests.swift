import BacklineRealtime
import Synchronization
import Testing

@Suite("Cycle meter and gate")
struct CycleMeterTests {
  @Test("a cycle that finishes after its deadline is late by its own doing")
  func ownLate() {
    let meter = CycleMeter()
    meter.take(begin: 0, finish: 900, deadline: 1_000, length: 1_000)
    #expect(meter.ownLate.load(ordering: .relaxed) == 0)
    meter.take(begin: 900, finish: 1_001, deadline: 1_000, length: 1_000)
    #expect(meter.ownLate.load(ordering: .relaxed) == 1)
  }

  @Test("a cycle that others began too late is theirs, unless it takes longer than its sound")
  func othersLate() {
    let meter = CycleMeter()
    meter.take(begin: 1_500, finish: 1_600, deadline: 1_000, length: 1_000)
    #expect(meter.ownLate.load(ordering: .relaxed) == 0)
    meter.take(begin: 1_500, finish: 2_600, deadline: 1_000, length: 1_000)
    #expect(meter.ownLate.load(ordering: .relaxed) == 1)
  }

  @Test("the load settles at the part of the time spent; empty cycles do not count")
  func load() {
    let meter = CycleMeter()
    for cycle in 0..<10_000 as Range<Int64> {
      meter.take(begin: cycle * 1_000_000, finish: cycle * 1_000_000 + 250_000, deadline: .max, length: 1_000_000)
      meter.take(begin: 0, finish: 1, deadline: 0, length: 0)
    }
    #expect(abs(meter.load.load(ordering: .relaxed) - 0.25) < 0.001)
    #expect(meter.largestLoad.load(ordering: .relaxed) == 0.25)
    #expect(meter.ownLate.load(ordering: .relaxed) == 0)
  }

  @Test("what all but one of ten thousand cycles stay below is neither the mean nor the largest")
  func quantiles() {
    let meter = CycleMeter()
    #expect(meter.load(ofCycles: 0.9999) == 0)
    for cycle in 0..<9_999 as Range<Int64> {
      meter.take(begin: 0, finish: 100_000 + cycle % 2 * 50_000, deadline: .max, length: 1_000_000)
    }
    meter.take(begin: 0, finish: 900_000, deadline: .max, length: 1_000_000)
    var usual = meter.load(ofCycles: 0.9999)
    #expect(usual > 0.15 && usual <= 0.15 * 1.125)
    #expect(meter.load(ofCycles: 1) == 0.9)
    let half = meter.load(ofCycles: 0.5)
    #expect(half > 0.1 && half <= 0.1 * 1.125)
    // A second one of twenty thousand is among them; a third is beyond.
    meter.take(begin: 0, finish: 900_000, deadline: .max, length: 1_000_000)
    usual = meter.load(ofCycles: 0.9999)
    #expect(usual > 0.8)
    // However long, and however short.
    meter.take(begin: 0, finish: .max / 8_192, deadline: .max, length: 1)
    meter.take(begin: 5, finish: 0, deadline: .max, length: 1_000_000)
    #expect(meter.load(ofCycles: 1) >= 64)
  }

  @Test("a shut gate lets nobody in, and shutting fails while someone stays inside")
  func gate() {
    let gate = RenderGate()
    let isIn = gate.enter()
    let isShutTooEarly = gate.shut(within: 1_000_000)
    gate.leave()
    let isShut = gate.shut(within: 1_000_000)
    let isInAgain = gate.enter()
    let isStillShut = gate.shut(within: 0)
    #expect(isIn && !isShutTooEarly && isShut && !isInAgain && isStillShut)
  }
}
