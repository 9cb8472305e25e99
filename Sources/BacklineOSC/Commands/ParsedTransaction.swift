import BacklineEngine

/// The messages of a transaction, understood.
struct ParsedTransaction: @unchecked Sendable {
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
        throw Self.error(error, request, index)
      }
      switch action {
      case .change(let more, _, _):
        scope.follow(more)
        commands += more
        owners += Array(repeating: index, count: more.count)
      case .alone:
        throw Self.error(
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

  /// How much of the limit of what may wait it takes.
  var weight: Int { max(1, commands.count) }

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
        case .change(let commands, let reply, let feedback):
          if !commands.isEmpty { router.noteChange(request, at: frame) }
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
      throw Self.error(error.error, requests[owners[error.index]], owners[error.index])
    }
  }
}
