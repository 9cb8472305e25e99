import BacklineEngine

/// Who is told what, and when: patterns of addresses that peers have subscribed to.
///
/// A value is told at most once an interval to each subscriber, the newest one, and never to the peer that has just set
/// it, whose fader would fight the hand otherwise; unless it was changed on the way (clamped, rounded), which only the
/// answer can tell. Nor is a value told that the peer has already, which lets two controllers that send back whatever they
/// receive come to rest. Events are told at once. Readings, which change by themselves as meters do, are sampled when a round
/// is due. The table has no clock and no socket: times are handed in, messages handed out. Control queue only.
public final class SubscriptionTable {
  /// Where a message goes.
  public typealias Delivery = (_ message: OSCMessage, _ peer: OSCPeer) -> Void

  /// The interval where a subscriber names none, in milliseconds.
  public static let defaultMilliseconds = 50

  private var subscriptions: [Subscription] = []
  private var readings: [String] = []
  /// Whom an address concerns, by the fastest subscription of each peer. Found by matching once, then looked up.
  private var interested: [String: [Interest]] = [:]
  private var mostInterested = leastCached
  private static let leastCached = 65_536
  /// A peer that sends a value back later than this means it, in nanoseconds.
  private static let echoTime: Int64 = 250_000_000

  public init() {}

  /// True where nobody has subscribed, so that nothing need be told.
  public var isEmpty: Bool { subscriptions.isEmpty }

  /// The peers that have subscribed.
  public var subscribers: Set<OSCPeer> { Set(subscriptions.map(\.peer)) }

  // MARK: Subscribing

  /// Subscribes a peer to a pattern, or changes the interval of one it has. The current values are for the caller to send.
  public func subscribe(
    _ peer: OSCPeer, to pattern: OSCPattern, milliseconds: Int = defaultMilliseconds
  ) throws(EngineError) {
    let range = OSCLimits.feedbackMilliseconds
    if !range.contains(milliseconds) {
      throw EngineError(
        .outOfRange, "\(milliseconds) ms is no interval from \(range.lowerBound) to \(range.upperBound) ms")
    }
    let interval = Int64(milliseconds) * 1_000_000
    let own = subscriptions.filter { $0.peer == peer }
    if let known = own.first(where: { $0.pattern == pattern }) {
      if known.interval != interval { known.nextRound = .min }
      known.interval = interval
    } else {
      if own.count >= OSCLimits.patternsPerSubscriber {
        throw EngineError(
          .limitReached, "a subscriber has at most \(OSCLimits.patternsPerSubscriber) patterns; unsubscribe one")
      }
      if own.isEmpty && subscribers.count >= OSCLimits.subscribers {
        throw EngineError(.limitReached, "\(OSCLimits.subscribers) subscribers are the limit")
      }
      subscriptions.append(Subscription(peer: peer, pattern: pattern, interval: interval))
    }
    regroup()
  }

  /// Ends one subscription; false where there was none.
  @discardableResult
  public func unsubscribe(_ peer: OSCPeer, from pattern: OSCPattern) -> Bool {
    guard let index = subscriptions.firstIndex(where: { $0.peer == peer && $0.pattern == pattern }) else {
      return false
    }
    let ended = subscriptions.remove(at: index)
    let waiting = ended.takeWaiting().map { (peer, $0.interest.address, $0.values) }
    regroup(alsoWaiting: waiting)
    return true
  }

  /// Ends all subscriptions of a peer that is gone.
  public func remove(_ peer: OSCPeer) {
    subscriptions.removeAll { $0.peer == peer }
    regroup()
  }

  /// Names the addresses whose values change by themselves. To be called again whenever they are others.
  public func setReadings(_ addresses: [String]) {
    readings = addresses
    regroup()
  }

  /// The values of an address that is no more need not be told.
  public func forget(_ address: String) {
    for interest in interested.removeValue(forKey: address) ?? [] { interest.waiting = nil }
  }

  // MARK: Telling

  /// A value has changed: set by a peer, or by nobody that need not be told (a preset, a script, an undo). True where a
  /// round has become due, so that `nextRound` has to be looked at.
  @discardableResult
  public func changed(
    _ address: String, to values: @autoclosure () -> [OSCArgument], by setter: OSCPeer? = nil,
    changedOnTheWay: Bool = false, now: Int64, deliver: Delivery
  ) -> Bool {
    if subscriptions.isEmpty { return false }
    if interested.count > mostInterested {
      // Addresses that are no more, or have long been still, are given up.
      regroup()
      mostInterested = max(Self.leastCached, 2 * interested.count)
    }
    let concerned = interests(in: address)
    if concerned.isEmpty { return false }
    let values = values()
    var isRoundDue = false
    for interest in concerned {
      let subscription = interest.subscription
      if subscription.peer == setter && !changedOnTheWay {
        interest.learn(values, toldAt: nil)
      } else if interest.known == values && subscription.peer != setter {
        interest.waiting = nil
      } else if now >= subscription.nextRound && !subscription.hasWaiting {
        subscription.nextRound = now + subscription.interval
        interest.learn(values, toldAt: now)
        deliver(OSCMessage(address, values), subscription.peer)
      } else if subscription.keep(values, for: interest) {
        isRoundDue = true
      }
    }
    return isRoundDue
  }

  /// A peer has been told a value outside of the rounds: what it sends back of it is an echo, and it need not be told again.
  public func told(_ values: [OSCArgument], at address: String, to peer: OSCPeer, now: Int64) {
    guard let interest = interests(in: address).first(where: { $0.subscription.peer == peer }) else { return }
    interest.learn(values, toldAt: now)
    let readings = interest.subscription.readings
    if let index = readings.firstIndex(where: { $0.address == address }) {
      interest.subscription.readings[index].last = values
    }
  }

  /// True where a peer only sends back what it has just been told, as some controllers do. Taken for a command, such an
  /// echo would set a value back that another has moved on meanwhile.
  public func isEcho(_ values: [OSCArgument], at address: String, from peer: OSCPeer, now: Int64) -> Bool {
    guard !subscriptions.isEmpty, let interest = interested[address]?.first(where: { $0.subscription.peer == peer })
    else { return false }
    return interest.wasTold(values, since: now - Self.echoTime)
  }

  /// Something has happened: told at once, once to each peer that has a pattern for it.
  public func event(_ message: OSCMessage, deliver: Delivery) {
    if subscriptions.isEmpty { return }
    for interest in interests(in: message.address) { deliver(message, interest.subscription.peer) }
  }

  /// Tells what waits for each round that is due; `sample` answers the current values of a reading.
  public func runRounds(now: Int64, sample: (String) -> [OSCArgument]?, deliver: Delivery) {
    // Each reading once, however many have subscribed to it.
    var sampled: [String: [OSCArgument]?] = [:]
    func reading(_ address: String) -> [OSCArgument]? {
      if let known = sampled[address] { return known }
      let values = sample(address)
      sampled[address] = .some(values)
      return values
    }
    for subscription in subscriptions where now >= subscription.nextRound {
      if !subscription.hasWaiting && subscription.readings.isEmpty { continue }
      for (interest, values) in subscription.takeWaiting() {
        interest.learn(values, toldAt: now)
        deliver(OSCMessage(interest.address, values), subscription.peer)
      }
      for index in subscription.readings.indices {
        let address = subscription.readings[index].address
        guard let values = reading(address), values != subscription.readings[index].last else { continue }
        subscription.readings[index].last = values
        deliver(OSCMessage(address, values), subscription.peer)
      }
      subscription.nextRound = now + subscription.interval
    }
  }

  /// When the next round is due; `nil` where nothing waits and nothing is read.
  public var nextRound: Int64? {
    var due: Int64?
    for subscription in subscriptions where subscription.hasWaiting || !subscription.readings.isEmpty {
      due = min(due ?? .max, subscription.nextRound)
    }
    return due
  }

  // MARK: Matching

  private func interests(in address: String) -> [Interest] {
    if let known = interested[address] { return known }
    var fastest: [Subscription] = []
    for subscription in subscriptions where subscription.pattern.matches(address) {
      if let index = fastest.firstIndex(where: { $0.peer == subscription.peer }) {
        if subscription.interval < fastest[index].interval { fastest[index] = subscription }
      } else {
        fastest.append(subscription)
      }
    }
    let interests = fastest.map { Interest(address, of: $0) }
    interested[address] = interests
    return interests
  }

  /// Gives each waiting value and each reading to the subscription that it belongs to now, so that no older value is told
  /// after a newer one, and none twice.
  private func regroup(alsoWaiting ended: [(peer: OSCPeer, address: String, values: [OSCArgument])] = []) {
    interested.removeAll()
    let kept = subscriptions.flatMap { subscription in
      subscription.takeWaiting().map { (subscription.peer, $0.interest.address, $0.values) }
    }
    for (peer, address, values) in ended + kept {
      guard let interest = interests(in: address).first(where: { $0.subscription.peer == peer }) else { continue }
      _ = interest.subscription.keep(values, for: interest)
    }
    regroupReadings()
  }

  private func regroupReadings() {
    var told: [OSCPeer: [String: [OSCArgument]]] = [:]
    for subscription in subscriptions {
      for (address, last) in subscription.readings { told[subscription.peer, default: [:]][address] = last }
      subscription.readings = []
    }
    for address in readings {
      for interest in interests(in: address) {
        let peer = interest.subscription.peer
        interest.subscription.readings.append((address, told[peer]?[address]))
      }
    }
  }
}
