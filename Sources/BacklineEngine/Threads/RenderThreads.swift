import BacklineGraph

/// How many threads render, and when they share the work.
public struct RenderThreads: Sendable, Equatable {
  /// The host's thread included; `nil` for as many as the machine has processors for this process, at most `mostChosen`.
  public var count: Int?
  public var policy: ParallelPolicy

  public init(count: Int?, policy: ParallelPolicy) {
    self.count = count
    self.policy = policy
  }

  /// The host's thread alone.
  public static let one = RenderThreads(count: 1, policy: .whenFaster)
  /// As many as the machine has, used only when one thread would take a good part of the time that there is.
  public static let automatic = RenderThreads(count: nil, policy: .whenNeeded)
  /// As many as the machine has, used wherever that is faster: for renderings that somebody waits for.
  public static let fastest = RenderThreads(count: nil, policy: .whenFaster)
  /// Up to `count` threads, used wherever that is faster.
  public static func upTo(_ count: Int) -> RenderThreads { RenderThreads(count: count, policy: .whenFaster) }

  /// `count` threads, more than there are processors, too, and used for the smallest graphs: for tests of the sharing itself.
  public static func always(_ count: Int) -> RenderThreads { RenderThreads(count: count, policy: .always) }

  /// The most threads that are chosen without being asked for: more seldom find work, and each takes part of the machine.
  public static let mostChosen = 4
  /// The most that can be asked for.
  public static let most = 64

  /// The threads that there will really be: never more than processors that this process may use, since a thread that waits for
  /// one keeps the others waiting.
  var granted: Int {
    if policy == .always { return min(count ?? 2, Self.most) }
    return min(count ?? Self.mostChosen, ProcessorLimit.parallelThreads, Self.most)
  }
}
