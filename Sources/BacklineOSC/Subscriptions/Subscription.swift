/// One pattern of one subscriber. Used on the control queue only, like `Interest`.
final class Subscription {
  let peer: OSCPeer
  let pattern: OSCPattern
  /// The least time between two rounds of values, in nanoseconds.
  var interval: Int64
  /// When the next round may be.
  var nextRound: Int64 = .min
  /// The readings that match, by their addresses, each with the values that were told last.
  var readings: [(address: String, last: [OSCArgument]?)] = []
  /// The addresses that wait for the coming round, in the order in which they first changed.
  private var queue: [Interest] = []

  init(peer: OSCPeer, pattern: OSCPattern, interval: Int64) {
    self.peer = peer
    self.pattern = pattern
    self.interval = interval
  }

  var hasWaiting: Bool { !queue.isEmpty }

  /// Keeps the newest values of an address for the coming round; true where the first that waits.
  func keep(_ values: [OSCArgument], for interest: Interest) -> Bool {
    interest.waiting = values
    if interest.isQueued { return false }
    interest.isQueued = true
    queue.append(interest)
    return queue.count == 1
  }

  /// Takes out what waits.
  func takeWaiting() -> [(interest: Interest, values: [OSCArgument])] {
    let taken = queue.compactMap { interest in interest.waiting.map { (interest, $0) } }
    for interest in queue {
      interest.waiting = nil
      interest.isQueued = false
    }
    queue.removeAll(keepingCapacity: true)
    return taken
  }
}

/// What one subscription knows of one address.
final class Interest {
  let address: String
  /// Outlives this: a table forgets its interests whenever a subscription ends.
  unowned let subscription: Subscription
  /// The values that the peer has: told to it, or set by it.
  private(set) var known: [OSCArgument]?
  /// What it has been told lately, with the times, oldest first: a controller that sends it all back may be some values behind.
  private var lately: [(values: [OSCArgument], time: Int64)] = []
  private static let mostLately = 64
  /// Newer values, to be told in the coming round.
  var waiting: [OSCArgument]?
  /// True while in the subscription's queue, where it stays until the round even if nothing waits any more, so that the
  /// queue is bounded by the number of addresses however often one changes.
  var isQueued = false

  init(_ address: String, of subscription: Subscription) {
    self.address = address
    self.subscription = subscription
  }

  /// The peer has these values now: told to it at a time, or set by itself where there is none.
  func learn(_ values: [OSCArgument], toldAt: Int64?) {
    known = values
    waiting = nil
    guard let toldAt else { return }
    if lately.count == Self.mostLately { lately.removeFirst() }
    lately.append((values, toldAt))
  }

  /// True where the peer has been told these values since a time.
  func wasTold(_ values: [OSCArgument], since time: Int64) -> Bool {
    lately.contains { $0.time >= time && $0.values == values }
  }
}
