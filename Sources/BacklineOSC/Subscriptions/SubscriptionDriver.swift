import BacklineEngine
import CBackline

/// Runs a subscription table by the clock: tells changes as they come, and the rounds when they are due. Control queue only.
public final class SubscriptionDriver: @unchecked Sendable {
  // Why unchecked: everything is confined to the control queue.

  /// The table. What is changed in it directly is told from the next `update()` on.
  public let table = SubscriptionTable()
  private let executor: ControlExecutor
  private let deliver: @Sendable (OSCMessage, OSCPeer) -> Void
  private let sample: @Sendable (String) -> [OSCArgument]?
  private let now: @Sendable () -> Int64
  private var timer: ControlExecutor.Timer?
  private var timerDue: Int64 = .max
  /// No round is run before, so that commands have their turn however much is told.
  private var rest: Int64 = .min
  /// How long that is, in times of what the last rounds cost.
  private static let restCosts: Int64 = 2

  /// `sample` answers the current values of a reading; `now` the time in nanoseconds.
  public init(
    executor: ControlExecutor, sample: @escaping @Sendable (_ address: String) -> [OSCArgument]? = { _ in nil },
    now: @escaping @Sendable () -> Int64 = backline_now,
    deliver: @escaping @Sendable (_ message: OSCMessage, _ peer: OSCPeer) -> Void
  ) {
    self.executor = executor
    self.sample = sample
    self.now = now
    self.deliver = deliver
  }

  /// A value has changed; see `SubscriptionTable.changed`.
  public func changed(
    _ address: String, to values: @autoclosure () -> [OSCArgument], by setter: OSCPeer? = nil,
    changedOnTheWay: Bool = false
  ) {
    if table.isEmpty { return }
    let isRoundDue = table.changed(
      address, to: values(), by: setter, changedOnTheWay: changedOnTheWay, now: now(), deliver: deliver)
    if isRoundDue { update() }
  }

  /// A peer has been told a value outside of the rounds; see `SubscriptionTable.told`.
  public func told(_ values: [OSCArgument], at address: String, to peer: OSCPeer) {
    table.told(values, at: address, to: peer, now: now())
  }

  /// True where a peer only sends back what it has just been told; see `SubscriptionTable.isEcho`.
  public func isEcho(_ values: [OSCArgument], at address: String, from peer: OSCPeer) -> Bool {
    !table.isEmpty && table.isEcho(values, at: address, from: peer, now: now())
  }

  /// Something has happened.
  public func event(_ message: OSCMessage) { table.event(message, deliver: deliver) }

  /// Subscribes a peer to a pattern.
  public func subscribe(
    _ peer: OSCPeer, to pattern: OSCPattern, milliseconds: Int = SubscriptionTable.defaultMilliseconds
  ) throws(EngineError) {
    try table.subscribe(peer, to: pattern, milliseconds: milliseconds)
    update()
  }

  /// Ends one subscription; false where there was none.
  @discardableResult
  public func unsubscribe(_ peer: OSCPeer, from pattern: OSCPattern) -> Bool {
    defer { update() }
    return table.unsubscribe(peer, from: pattern)
  }

  /// Ends all subscriptions of a peer that is gone.
  public func remove(_ peer: OSCPeer) {
    table.remove(peer)
    update()
  }

  /// Names the addresses whose values change by themselves.
  public func setReadings(_ addresses: [String]) {
    table.setReadings(addresses)
    update()
  }

  /// Sets the timer for the next round.
  public func update() {
    guard let next = table.nextRound else { return }
    let due = max(next, rest)
    if timer != nil && timerDue <= due { return }
    if let timer { executor.cancel(timer) }
    timerDue = due
    let delay = due == .min ? 0 : max(0, Double(due - now()) * 1e-9)
    timer = executor.schedule(after: delay) { [weak self] in self?.runRounds() }
  }

  /// Ends the timer; nothing is told any more until the next change.
  public func stop() {
    if let timer { executor.cancel(timer) }
    timer = nil
    timerDue = .max
  }

  private func runRounds() {
    timer = nil
    timerDue = .max
    let begin = now()
    table.runRounds(now: begin, sample: sample, deliver: deliver)
    let end = now()
    rest = end + Self.restCosts * (end - begin)
    update()
  }
}
