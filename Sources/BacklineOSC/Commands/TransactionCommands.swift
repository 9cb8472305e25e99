import BacklineEngine
import CBackline

/// A transaction that a sender without bundles has begun.
struct OpenTransaction {
  var requests: [OSCRequest] = []
  let timer: ControlExecutor.Timer
}

/// Bundles and `/graph/begin … /graph/commit`: many messages as one transaction, applied at one frame or refused whole (R10).
extension CommandRouter {
  /// A transaction that is not committed is rolled back after this time, in seconds.
  static let transactionTime = 10.0
  /// The most messages that one transaction collects.
  static let transactionLimit = 4_096
  /// The farthest that a time tag may lie ahead, in seconds.
  static let horizon = 60.0
  /// Bundles farther ahead than this are kept here, so that their time becomes a frame by a clock that knows it well.
  private static let heldAhead = 1.0

  // MARK: Begin and commit

  func registerTransactions() {
    on("/graph/begin") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in self.begin(request.peer, completion) }
    }
    on("/graph/commit") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .special { () throws(EngineError) in try self.commit(request) }
    }
    on("/graph/rollback") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in
        guard let open = self.transactions.removeValue(forKey: request.peer) else {
          completion(.failure(EngineError(.notFound, "no transaction is open: /graph/begin opens one")))
          return
        }
        self.engine.executor.cancel(open.timer)
        completion(.success([]))
      }
    }
    for (address, undoes) in [("/graph/undo", true), ("/graph/redo", false)] {
      on(address) { [engine] request, _ throws(EngineError) in
        try request.expect(0...0, "nothing")
        return .alone { completion in
          let result: Result<[OSCArgument], EngineError> = engine.here { engine in
            do throws(EngineError) {
              try undoes ? engine.undo() : engine.redo()
              return .success([])
            } catch {
              return .failure(error)
            }
          }
          completion(result)
        }
      }
    }
  }

  private func begin(
    _ peer: OSCPeer, _ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void
  ) {
    if transactions[peer] != nil {
      completion(
        .failure(EngineError(.busy, "a transaction is open already: /graph/commit or /graph/rollback ends it")))
      return
    }
    if transactions.count >= OSCLimits.subscribers {
      completion(.failure(EngineError(.limitReached, "too many transactions are open: try again later")))
      return
    }
    let timer = engine.executor.schedule(after: Self.transactionTime) { [weak self] in
      guard let self, let open = transactions.removeValue(forKey: peer) else { return }
      let error = EngineError(.tooLate, "not committed within 10 s: \(open.requests.count) command(s) rolled back")
      refuse(error, "/graph/begin", nil, peer)
    }
    transactions[peer] = OpenTransaction(timer: timer)
    completion(.success([]))
  }

  /// Keeps a request for the commit of its sender's transaction; false for what acts at once all the same.
  func collect(_ request: OSCRequest) -> Bool {
    let isEdit =
      request.address.hasPrefix("/node/") && !request.arguments.isEmpty || request.address.hasSuffix("/reset")
      || (request.address.hasPrefix("/graph/") && !Self.immediate.contains(request.address))
    guard isEdit, var open = transactions[request.peer] else { return false }
    if open.requests.count >= Self.transactionLimit {
      refuse(
        EngineError(.limitReached, "a transaction holds \(Self.transactionLimit) commands at most"), request.address,
        request.id, request.peer)
      return true
    }
    transactions[request.peer] = nil
    open.requests.append(request)
    transactions[request.peer] = open
    return true
  }

  private static let immediate: Set<String> = [
    "/graph/begin", "/graph/commit", "/graph/rollback", "/graph/list", "/graph/connections", "/graph/undo",
    "/graph/redo",
  ]

  private func commit(_ request: OSCRequest) throws(EngineError) {
    guard let open = transactions.removeValue(forKey: request.peer) else {
      throw EngineError(.notFound, "no transaction is open: /graph/begin opens one")
    }
    engine.executor.cancel(open.timer)
    try Parsed(open.requests, self).perform(self, at: nil)
    answer(request, [.int32(Int32(open.requests.count))])
  }

  // MARK: Bundles

  func receiveBundle(_ packet: OSCPacketView, from peer: OSCPeer) {
    guard let tag = packet.timeTag else { return }
    do throws(EngineError) {
      var requests: [OSCRequest] = []
      for message in packet.messages {
        if OSCReply.isAnswer(message.address) {
          ignoredAnswers += 1
          continue
        }
        requests.append(try request(message.message(), peer))
      }
      if requests.isEmpty { return }
      if tag == OSCPacket.immediately {
        try Parsed(requests, self).perform(self, at: nil)
      } else {
        try schedule(requests, tag)
      }
    } catch {
      refuse(error, "#bundle", nil, peer)
    }
  }

  /// Seconds from now to a time tag, by the clock of the wall.
  private func secondsAhead(_ tag: UInt64) -> Double {
    let seconds = Double(tag >> 32) - 2_208_988_800  // NTP counts from 1900
    let fraction = Double(tag & 0xFFFF_FFFF) / 4_294_967_296
    let now = backline_wall_time()
    return (seconds - Double(now / 1_000_000_000)) + (fraction - Double(now % 1_000_000_000) * 1e-9)
  }

  private func schedule(_ requests: [OSCRequest], _ tag: UInt64) throws(EngineError) {
    let ahead = secondsAhead(tag)
    if ahead > Self.horizon {
      throw EngineError(.outOfRange, "the time tag is \(Int(ahead)) s ahead: at most 60 are allowed")
    }
    let parsed = try Parsed(requests, self)
    let waiting = engine.here { $0.scheduledWaiting } + heldBundles
    if ahead > 0 && waiting + parsed.commands.count > Engine.scheduledLimit {
      throw EngineError(.limitReached, "\(waiting) scheduled commands wait already: at most 4096 are allowed")
    }
    try parsed.check(self)
    if ahead > Self.heldAhead {
      hold(parsed, tag, until: ahead - Self.heldAhead / 2)
    } else {
      try act(parsed, tag)
    }
  }

  private func hold(_ parsed: Parsed, _ tag: UInt64, until seconds: Double) {
    let weight = max(1, parsed.commands.count)
    heldBundles += weight
    engine.executor.schedule(after: seconds) { [weak self] in
      guard let self else { return }
      heldBundles -= weight
      do throws(EngineError) {
        try act(parsed, tag)
      } catch {
        refuse(error, "#bundle", nil, parsed.requests[0].peer)
      }
    }
  }

  /// Gives a bundle to the engine for the frame of its tag.
  private func act(_ parsed: Parsed, _ tag: UInt64) throws(EngineError) {
    let ahead = secondsAhead(tag)
    let at = backline_now() + Int64(ahead * 1e9)
    let (frame, current, lead) = engine.here { engine in
      (engine.frame(at: at), engine.currentFrame, engine.editLead)
    }
    guard let frame else {
      // Nothing renders, so that there is no frame to wait for.
      try parsed.perform(self, at: nil)
      return
    }
    if frame < current {
      lateBundles += 1
      subscriptions.event(
        OSCMessage("/late", .string(parsed.requests[0].address), .int64(current - frame)))
      try parsed.perform(self, at: nil)
      return
    }
    if parsed.changesGraph && ahead > lead {
      // A plan blocks those behind it until it is taken: it is published as late as is safe.
      hold(parsed, tag, until: ahead - lead)
      return
    }
    if scheduled.count < Engine.scheduledLimit { scheduled[frame] = parsed.requests[0].address }
    try parsed.perform(self, at: frame)
  }

  /// A scheduled event has been taken.
  func tellTaken(wanted: Int64, late: Int) {
    guard let address = scheduled.removeValue(forKey: wanted) else { return }
    if late > 0 { subscriptions.event(OSCMessage("/late", .string(address), .int64(Int64(late)))) }
    subscriptions.event(OSCMessage("/taken", .string(address), .int64(wanted + Int64(late))))
  }
}

/// The messages of a transaction, understood.
struct Parsed: @unchecked Sendable {
  // Why unchecked: made and used on the control queue only.

  let requests: [OSCRequest]
  private let actions: [CommandAction]
  let commands: [Command]
  /// Which request each command belongs to.
  private let owners: [Int]

  init(_ requests: [OSCRequest], _ router: CommandRouter) throws(EngineError) {
    self.requests = requests
    var actions: [CommandAction] = []
    var commands: [Command] = []
    var owners: [Int] = []
    var scope = router.scope()
    for (index, request) in requests.enumerated() {
      let action: CommandAction
      do throws(EngineError) {
        action = try router.action(for: request, scope)
      } catch {
        throw Parsed.error(error, request, index)
      }
      switch action {
      case .change(let more, _, _):
        scope.follow(more)
        commands += more
        owners += Array(repeating: index, count: more.count)
      case .alone:
        throw Parsed.error(
          EngineError(.notAllowed, "this command cannot be part of a transaction: send it by itself"), request, index)
      case .answer, .special: break
      }
      actions.append(action)
    }
    self.actions = actions
    self.commands = commands
    self.owners = owners
  }

  private static func error(_ error: EngineError, _ request: OSCRequest, _ index: Int) -> EngineError {
    EngineError(error.code, "element \(index + 1), \(request.address): \(error.message)")
  }

  var changesGraph: Bool {
    commands.contains {
      switch $0 {
      case .set, .bypass, .reset, .mute: false
      default: true
      }
    }
  }

  /// Refuses what would not go through now.
  func check(_ router: CommandRouter) throws(EngineError) {
    try run { commands throws(TransactionError) in
      try router.engine.hereThrowing { engine throws(TransactionError) in try engine.check(commands) }
    }
  }

  /// Applies everything as one transaction, then answers each message.
  func perform(_ router: CommandRouter, at frame: Int64?) throws(EngineError) {
    try run { commands throws(TransactionError) in
      try router.engine.hereThrowing { engine throws(TransactionError) in try engine.perform(commands, at: frame) }
    }
    for (request, action) in zip(requests, actions) {
      do throws(EngineError) {
        switch action {
        case .change(_, let reply, let feedback):
          router.tell(feedback, by: request.peer)
          if let reply { router.answer(request, reply) } else if request.id != nil { router.answer(request, []) }
        case .answer(let values): router.answer(request, try values())
        case .special(let work): try work()
        case .alone: break
        }
      } catch {
        router.refuse(error, request.address, request.id, request.peer)
      }
    }
  }

  private func run(_ body: ([Command]) throws(TransactionError) -> Void) throws(EngineError) {
    if commands.isEmpty { return }
    do throws(TransactionError) {
      try body(commands)
    } catch {
      throw Parsed.error(error.error, requests[owners[error.index]], owners[error.index])
    }
  }
}
