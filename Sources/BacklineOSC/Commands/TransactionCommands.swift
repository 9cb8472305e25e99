import BacklineEngine
import CBackline

/// A transaction that a sender without bundles has begun.
struct OpenTransaction {
  var requests: [OSCRequest] = []
  /// More came than a transaction holds: it cannot be committed any more.
  var isOverfull = false
  let timer: ControlExecutor.Timer
}

/// `/graph/begin … /graph/commit`: many messages as one transaction, for senders without bundles; undo and redo.
extension CommandRouter {
  /// A transaction that is not committed is rolled back after this time, in seconds.
  static let transactionTime = 10.0
  /// The most messages that one transaction collects.
  static let transactionLimit = 4_096

  // MARK: Begin and commit

  func registerTransactions() {
    on("/graph/begin") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in self.begin(request.peer, completion) }
    }
    on("/graph/commit") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in completion(self.commit(request)) }
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
      // `/graph/begin` has had its answer.
      refuse(error, "#transaction", nil, peer)
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
      transactions[request.peer]?.isOverfull = true
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
    "/graph/begin", "/graph/commit", "/graph/rollback", "/graph/list", "/graph/load", "/graph/connections",
    "/graph/undo", "/graph/redo",
  ]

  private func commit(_ request: OSCRequest) -> Result<[OSCArgument], EngineError> {
    guard let open = transactions.removeValue(forKey: request.peer) else {
      return .failure(EngineError(.notFound, "no transaction is open: /graph/begin opens one"))
    }
    engine.executor.cancel(open.timer)
    if open.isOverfull {
      return .failure(
        EngineError(
          .limitReached, "more than \(Self.transactionLimit) commands came: all are rolled back, send them in parts"))
    }
    do throws(EngineError) {
      try ParsedTransaction(open.requests, self).perform(self, at: nil)
    } catch {
      return .failure(error)
    }
    return .success([.int32(Int32(open.requests.count))])
  }
}
