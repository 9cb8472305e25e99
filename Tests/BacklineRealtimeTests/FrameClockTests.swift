import BacklineRealtime
import BacklineTestSupport
import CBackline
import Testing

@Suite("Frame clock")
struct FrameClockTests {
  /// Cycles of a sound card whose true rate differs from the nominal one, seen with one-sided jitter.
  private struct Card {
    let nominal: Double
    let rate: Double
    let period: Int64
    let jitter: Double
    var generator = SeededGenerator(7)
    var frame: Int64 = 0
    let start: Int64 = 1_000_000_000_000

    func time(of frame: Double) -> Int64 { start + Int64(frame * 1e9 / rate) }

    mutating func cycle(_ clock: borrowing FrameClock) {
      let late = jitter > 0 ? Double.random(in: 0...jitter, using: &generator) : 0
      clock.update(frame: frame, time: time(of: Double(frame)) + Int64(late), sampleRate: nominal)
      frame += period
    }
  }

  @Test("knows nothing before the first cycle and after a reset")
  func unknown() {
    let clock = FrameClock()
    #expect(clock.frame(at: 5) == nil)
    clock.update(frame: 100, time: 1_000, sampleRate: 48_000)
    #expect(clock.frame(at: 1_000) == 100)
    clock.reset()
    #expect(clock.frame(at: 1_000) == nil && clock.time(of: 3) == nil && clock.position(at: 1) == nil)
  }

  @Test(
    "two times apart map to frames as far apart, within one frame, whatever the jitter of 200 µs",
    arguments: [(48_000.0, 16), (48_000, 64), (48_000, 256), (48_000, 1_024), (44_100, 128), (96_000, 512)])
  func jitter(sampleRate: Double, period: Int) {
    let clock = FrameClock()
    var card = Card(nominal: sampleRate, rate: sampleRate * 1.000_05, period: Int64(period), jitter: 200_000)
    while Double(card.frame) < 60 * sampleRate { card.cycle(clock) }
    let span = Int64(50_000_000)
    var worst = 0.0
    while Double(card.frame) < 90 * sampleRate {
      card.cycle(clock)
      let now = card.time(of: Double(card.frame))
      guard let one = clock.position(at: now), let other = clock.position(at: now + span) else {
        Issue.record("the clock knows nothing")
        return
      }
      worst = max(worst, abs(other - one - Double(span) * card.rate * 1e-9))
    }
    #expect(worst < 1)
  }

  @Test("the position of a time wanders by less than two frames from cycle to cycle", arguments: [16, 64, 256])
  func steadiness(period: Int) {
    let clock = FrameClock()
    var card = Card(nominal: 48_000, rate: 47_998, period: Int64(period), jitter: 200_000)
    while card.frame < 48_000 * 60 { card.cycle(clock) }
    var lowest = Double.infinity
    var highest = -Double.infinity
    while card.frame < 48_000 * 70 {
      card.cycle(clock)
      let error = (clock.position(at: card.time(of: Double(card.frame))) ?? .nan) - Double(card.frame)
      lowest = min(lowest, error)
      highest = max(highest, error)
    }
    #expect(highest - lowest < 2)
  }

  @Test("after a gap the frames stay contiguous and the mapping follows at once")
  func gap() {
    let clock = FrameClock()
    var time: Int64 = 0
    for cycle in 0..<1_000 {
      clock.update(frame: Int64(cycle) * 64, time: time, sampleRate: 48_000)
      time += 1_333_333
    }
    time += 50_000_000
    clock.update(frame: 64_000, time: time, sampleRate: 48_000)
    #expect(clock.frame(at: time) == 64_000)
    #expect(clock.frame(at: time + 1_000_000_000) == 112_000)
  }

  @Test("a change of the rate holds from the next cycle on")
  func rateChange() {
    let clock = FrameClock()
    clock.update(frame: 0, time: 0, sampleRate: 48_000)
    clock.update(frame: 480, time: 10_000_000, sampleRate: 96_000)
    #expect(clock.frame(at: 20_000_000) == 1_440)
  }

  @Test("an empty cycle and cycles of changing lengths do no harm")
  func lengths() {
    let clock = FrameClock()
    var frame: Int64 = 0
    for length in [64, 0, 0, 4_096, 1, 0, 333, 8_192, 16] + [Int](repeating: 128, count: 100) {
      clock.update(frame: frame, time: frame * 1_000_000 / 48, sampleRate: 48_000)
      frame += Int64(length)
    }
    #expect(clock.frame(at: 1_000_000_000) == 48_000)
  }

  @Test("time and frame are each other's inverse, also when frames have counted for years")
  func inverse() {
    let clock = FrameClock()
    let first: Int64 = 48_000 * 86_400 * 3_650
    clock.update(frame: first, time: 9_000_000_000_000_000, sampleRate: 48_000)
    for offset in [0, 1, 47, 48_000, -48_000, 10_000_000] as [Int64] {
      let time = clock.time(of: first + offset)
      #expect(time.flatMap { clock.frame(at: $0) } == first + offset)
    }
  }

  @Test("a reader on another thread never sees half of an update")
  func concurrency() async {
    let clock = SharedClock()
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        // Every cycle lies on the same line, so that a mixture of two would lie beside it.
        for cycle in 0..<200_000 {
          clock.pointer.pointee.update(
            frame: Int64(cycle) * 48, time: Int64(cycle) * 1_000_000, sampleRate: 48_000)
        }
        return true
      }
      for _ in 0..<2 {
        group.addTask {
          (0..<200_000).allSatisfy { _ in
            clock.pointer.pointee.frame(at: 77_000_000).map { $0 == 3_696 } ?? true
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

private final class SharedClock: @unchecked Sendable {
  let pointer = UnsafeMutablePointer<FrameClock>.allocate(capacity: 1)

  init() { pointer.initialize(to: FrameClock()) }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }
}
