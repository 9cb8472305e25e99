/// When several threads share the work of a slice.
public enum ParallelPolicy: Sendable, Equatable {
  /// While one thread would take a good part of the time that there is, and only where sharing is faster. Plans have no tasks until
  /// then.
  case whenNeeded
  /// Wherever it is faster.
  case whenFaster
  /// Wherever there is more than one task, however small: for tests of the sharing itself.
  case always
}

/// Decides, slice by slice, whether the work is shared: on the host's render thread, from the times that slices have taken.
///
/// The plan compiler has estimated that sharing pays before there are any tasks; here it has to prove it. Where it does not (the
/// other threads come too late, the machine has other work), one thread goes on alone for a while, longer after each failure.
struct ParallelGovernor {
  private let policy: ParallelPolicy
  /// True while the work is shared.
  private(set) var isOn = false
  /// Nanoseconds a frame: from the first to the last task, and of all tasks together.
  private var sharedCost: Float = 0, workCost: Float = 0
  private var slices = 0
  /// Slices to go alone before another trial.
  private var rest = 0
  private var penalty = firstPenalty

  private static var firstPenalty: Int { @_noLocks get { 4_096 } }
  private static var largestPenalty: Int { @_noLocks get { 1 << 20 } }

  init(_ policy: ParallelPolicy) { self.policy = policy }

  /// True when the coming slice is to be shared.
  @_noLocks
  mutating func decide() -> Bool {
    if !isOn && rest <= 0 { turn(true) }
    return isOn
  }

  /// Counts a slice that one thread rendered.
  @_noLocks
  mutating func noteSerial() { if rest > 0 { rest &-= 1 } }

  /// Takes the time of a slice that was shared, and that of its tasks together.
  @_noLocks
  mutating func noteShared(_ time: Int64, work: Int64, frames: Int) {
    follow(&sharedCost, time, frames)
    follow(&workCost, work, frames)
    slices &+= 1
    if case .always = policy { return }
    if slices < 256 { return }
    if sharedCost > 0.97 * workCost {
      turn(false)
      rest = penalty
      penalty = min(2 &* penalty, Self.largestPenalty)
    } else if slices >= 1 << 16 {
      penalty = Self.firstPenalty
    }
  }

  @_noLocks
  private mutating func turn(_ isOn: Bool) {
    self.isOn = isOn
    slices = 0
    sharedCost = 0
    workCost = 0
  }

  /// A mean over the last 64 slices or so; the plain mean at first.
  @_noLocks
  private func follow(_ mean: inout Float, _ time: Int64, _ frames: Int) {
    let cost = Float(time) / Float(max(1, frames))
    mean += (cost - mean) / Float(min(slices, 63) &+ 1)
  }
}
