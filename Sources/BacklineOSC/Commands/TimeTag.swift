import CBackline

/// Time tags, which are times by the wall's clock in NTP's form.
enum TimeTag {
  /// NTP counts from 1900, the wall's clock from 1970.
  static let epochSeconds: Int64 = 2_208_988_800

  /// The time of CLOCK_MONOTONIC in nanoseconds that a tag means now, while the wall's clock says what it says.
  static func monotonicTime(of tag: UInt64) -> Int64 {
    let seconds = Int64(tag >> 32) - epochSeconds
    let nanoseconds = Int64(((tag & 0xFFFF_FFFF) * 1_000_000_000 + 0x8000_0000) >> 32)
    return seconds * 1_000_000_000 + nanoseconds - wallOffset()
  }

  /// How far the wall's clock is ahead of CLOCK_MONOTONIC, in nanoseconds.
  ///
  /// The two cannot be read at once; whoever is interrupted between the readings tries again, for a frame lasts 20 µs only.
  static func wallOffset() -> Int64 {
    var best = (spread: Int64.max, offset: Int64(0))
    for _ in 0..<8 {
      let before = backline_now()
      let wall = backline_wall_time()
      let spread = backline_now() - before
      if spread < best.spread { best = (spread, wall - before - spread / 2) }
      if spread < 2_000 { break }
    }
    return best.offset
  }
}
