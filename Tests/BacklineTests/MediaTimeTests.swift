import Backline
import Testing

@Suite("Media time")
struct MediaTimeTests {
  @Test("sums, differences and comparisons are exact, also over a day of odd fractions")
  func exact() {
    let frame = MediaTime(value: 1001, timescale: 30_000)
    var time = MediaTime.zero
    for _ in 0..<100_000 { time = time + frame }
    #expect(time == MediaTime(value: 100_100_000, timescale: 30_000))
    #expect(time - MediaTime(value: 100_100_000, timescale: 30_000) == .zero)
    // 24 h at 48 002.4 Hz, counted in frames: nothing accumulates.
    let day = MediaTime(value: 4_147_407_360, timescale: 48_000)
    #expect(day + MediaTime(value: 1, timescale: 48_000) > day && (day + frame) - frame == day)
    #expect(MediaTime(value: 1, timescale: 3) + MediaTime(value: 1, timescale: 6) == MediaTime(value: 1, timescale: 2))
    #expect(MediaTime(value: .max, timescale: 1) > MediaTime(value: .max, timescale: 2))
    #expect(Set([MediaTime(value: 1, timescale: 2), MediaTime(value: 500, timescale: 1000)]).count == 1)
  }

  @Test("a conversion rounds once, to the nearest, halves up")
  func rounding() {
    #expect(MediaTime(value: 1, timescale: 2000).converted(to: 1000).value == 1)
    #expect(MediaTime(value: -1, timescale: 2000).converted(to: 1000).value == 0)
    #expect(MediaTime(value: -3, timescale: 4000).converted(to: 1000).value == -1)
    #expect(MediaTime(value: 1023, timescale: 48_000).converted(to: 1000).value == 21)
    #expect(MediaTime(seconds: 0.1, preferredTimescale: 48_000).value == 4800)
    #expect(MediaTime(seconds: .nan, preferredTimescale: 10).value == 0)
    #expect(MediaTime(value: .max, timescale: 1).converted(to: .max).value == .max)
    #expect((MediaTime(value: .max, timescale: 1) + MediaTime(value: 1, timescale: 1)).value == .max)
    #expect(MediaTime(value: 5, timescale: 0).timescale == 1)
  }
}
