import CBackline

/// Lets ten answers a second through: those to packets that are no commands, whose senders may be many or forged.
struct AnswerLimiter {
  private static let perSecond = 10
  private var second: Int64 = 0
  private var count = 0

  /// True where one more may be sent now.
  mutating func pass(now: Int64 = backline_now()) -> Bool {
    if now - 1_000_000_000 >= second {
      second = now
      count = 0
    }
    count += 1
    return count <= Self.perSecond
  }
}
