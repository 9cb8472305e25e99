import CBackline

/// Lets one line a second through, and counts those that it held back.
struct LogLimiter {
  private var quietUntil: Int64 = .min
  private var heldBack = 0

  /// The line to write now, if one may be, with the number of those held back since the last.
  mutating func pass(_ line: @autoclosure () -> String, now: Int64 = backline_now()) -> String? {
    if now < quietUntil {
      heldBack += 1
      return nil
    }
    quietUntil = now + 1_000_000_000
    defer { heldBack = 0 }
    return heldBack == 0 ? line() : "\(line()) (and \(heldBack) more like it)"
  }
}
