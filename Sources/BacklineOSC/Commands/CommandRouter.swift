import BacklineDSP
import BacklineEngine
import CBackline

/// Understands what comes in over OSC, has the engine do it, and answers. Control queue only.
public final class CommandRouter: @unchecked Sendable {
  // Why unchecked: everything is confined to the control queue.

  public let engine: Engine
  public let server: OSCServer
  let subscriptions: SubscriptionDriver
  var handlers: [String: CommandHandler] = [:]
  private var prefixes: [(prefix: String, handler: CommandHandler)] = []
  var table = ParameterTable()
  var transactions: [OSCPeer: OpenTransaction] = [:]
  /// Scheduled bundles by the frame that they were meant for, to report when they were taken.
  var scheduled: [Int64: [String]] = [:]
  var heldBundles = 0
  var tempo = TapTempo()

  var hasReadings = false
  var isReadingPlanned = false

  /// Commands that were refused; answers and events that came in and were passed over.
  public internal(set) var refusedCommands = 0
  public internal(set) var ignoredAnswers = 0
  /// Bundles that came after their time.
  public internal(set) var lateBundles = 0

  /// Hears of every command that has changed something and could stand in a list of events, with the absolute frame that it has
  /// been made for, if any. The control queue.
  public var onChange: ((_ message: OSCMessage, _ frame: Int64?) -> Void)?
  /// What `/quit` does.
  public var onQuit: @Sendable () -> Void = {}
  /// More keys and values for `/status`.
  var moreStatus: [() -> [(String, OSCArgument)]] = []
  var statusValues: [String: () -> OSCArgument] = [:]
  /// What `/version` answers.
  public let version: String

  /// A router that answers over `server` for `engine`; both are on the same control queue.
  public init(engine: Engine, server: OSCServer, version: String) {
    self.engine = engine
    self.server = server
    self.version = version
    let reader = ReadingSampler()
    subscriptions = SubscriptionDriver(
      executor: engine.executor, sample: { reader.sample($0) }, deliver: { server.sendDirectly($0, to: $1) })
    reader.router = self
    registerSystem()
    registerGraph()
    registerSubscriptions()
  }

  /// Begins to listen. Control queue.
  public func start() {
    server.start { [weak self] packet, peer in
      self?.receive(packet, from: peer)
    } onPeerGone: { [weak self] peer in
      guard let self else { return }
      subscriptions.remove(peer)
      if let open = transactions.removeValue(forKey: peer) { engine.executor.cancel(open.timer) }
      for sender in server.replyPorts.remove(answeredAt: peer) { subscriptions.remove(sender) }
    }
    engine.here { engine in
      engine.observe { [weak self] event in self?.tell(event) }
    }
  }

  /// Has `handler` understand all addresses that begin with `prefix`.
  public func register(
    prefix: String, _ handler: @escaping (OSCRequest) throws(EngineError) -> CommandAction
  ) {
    prefixes.append((prefix, { request, _ throws(EngineError) in try handler(request) }))
  }

  /// Has subscribers hear of something; controllers that send it back are not answered.
  public func tell(event: OSCMessage) { subscriptions.event(event) }

  /// Gives a key of `/status` its value.
  public func setStatus(_ key: String, _ value: @escaping () -> OSCArgument) { statusValues[key] = value }

  /// Adds keys and values to `/status`.
  public func addStatus(_ pairs: @escaping () -> [(String, OSCArgument)]) { moreStatus.append(pairs) }

  /// Has `handler` understand one address.
  func on(_ address: String, _ handler: @escaping CommandHandler) { handlers[address] = handler }

  // MARK: Packets

  private func receive(_ packet: OSCPacketView, from peer: OSCPeer) {
    if packet.isBundle {
      receiveBundle(packet, from: peer)
      return
    }
    for message in packet.messages {
      if setFast(message, from: peer) { continue }
      if OSCReply.isAnswer(message.address) {
        ignoredAnswers += 1
        continue
      }
      receive(message.message(), from: peer)
    }
  }

  /// Answers leave for the port that the sender has named.
  func destination(_ peer: OSCPeer) -> OSCPeer { server.replyPorts.destination(for: peer) }

  private func receive(_ message: OSCMessage, from peer: OSCPeer) {
    let request: OSCRequest
    do throws(EngineError) {
      request = try self.request(message, peer)
    } catch {
      refuse(error, message.address, message.arguments.first.flatMap(Self.id), peer)
      return
    }
    if isEvent(request) {
      ignoredAnswers += 1
      return
    }
    if transactions[peer] != nil, collect(request) { return }
    perform(request)
  }

  /// Takes `/id ID ADDRESS …` apart.
  func request(_ message: OSCMessage, _ peer: OSCPeer) throws(EngineError) -> OSCRequest {
    guard message.address == "/id" else {
      return OSCRequest(address: message.address, arguments: message.arguments, peer: peer, id: nil)
    }
    guard let first = message.arguments.first, let id = Self.id(first) else {
      throw EngineError(
        .wrongType, "/id: an id is a whole number, or a string of at most \(OSCLimits.idBytes) bytes")
    }
    guard message.arguments.count >= 2, case .string(let address) = message.arguments[1], address.hasPrefix("/"),
      address != "/id"
    else {
      throw EngineError(.wrongType, "/id takes an id, an address as a string, and that command's arguments")
    }
    return OSCRequest(address: address, arguments: Array(message.arguments.dropFirst(2)), peer: peer, id: id)
  }

  /// An argument as an id, where it can be one.
  private static func id(_ argument: OSCArgument) -> OSCArgument? {
    switch argument {
    case .int32, .int64: argument
    case .string(let text), .symbol(let text): text.utf8.count <= OSCLimits.idBytes ? argument : nil
    default: nil
    }
  }

  /// One command on its own.
  private func perform(_ request: OSCRequest) {
    do throws(EngineError) {
      switch try action(for: request, scope()) {
      case .change(let commands, let reply, let feedback):
        if reply == nil, isEcho(request, feedback) {
          ignoredAnswers += 1
          return
        }
        try perform(commands)
        if !commands.isEmpty { noteChange(request) }
        tell(feedback, by: request.peer)
        if let reply { answer(request, reply) } else if request.id != nil { answer(request, []) }
      case .answer(let values):
        answer(request, try values())
      case .alone(let work):
        work { [weak self] result in
          guard let self else { return }
          engine.executor.run { [self] in finish(request, result) }
        }
      case .special(let work):
        try work()
      }
    } catch {
      refuse(error, request.address, request.id, request.peer)
    }
  }

  func finish(_ request: OSCRequest, _ result: Result<[OSCArgument], EngineError>) {
    switch result {
    case .success(let values):
      if Self.isScripted(request) { noteChange(request) }
      answer(request, values)
    case .failure(let error): refuse(error, request.address, request.id, request.peer)
    }
  }

  func noteChange(_ request: OSCRequest, at frame: Int64? = nil) {
    onChange?(OSCMessage(request.address, request.arguments), frame)
  }

  private func perform(_ commands: [Command]) throws(EngineError) {
    try engine.hereThrowing { engine throws(EngineError) in
      do throws(TransactionError) {
        try engine.perform(commands)
      } catch {
        throw error.error
      }
    }
  }

  /// True where a subscriber only sends back what it was told, of whatever numeric type.
  private func isEcho(_ request: OSCRequest, _ feedback: [CommandAction.Feedback]) -> Bool {
    guard request.id == nil, feedback.count == 1, let told = feedback.first, told.address == request.address else {
      return false
    }
    return subscriptions.isEcho([told.value], at: told.address, from: destination(request.peer))
  }

  func scope() -> NameScope {
    NameScope(catalog: engine.catalog) { [engine] name in
      engine.here { engine in (try? engine.node(name)).map { NameScope.Node($0, engine) } }
    } list: { [engine] in
      engine.here { engine in engine.nodes.map { NameScope.Node($0, engine) } }
    }
  }

  // MARK: Understanding

  /// What a command comes to; throws where it is not understood.
  func action(for request: OSCRequest, _ scope: NameScope) throws(EngineError) -> CommandAction {
    if let handler = handlers[request.address] { return try handler(request, scope) }
    if request.address.hasPrefix("/node/") { return try nodeAction(request, scope) }
    for (prefix, handler) in prefixes where request.address.hasPrefix(prefix) { return try handler(request, scope) }
    let near = nearestName(request.address, in: handlers.keys.sorted())
    throw EngineError(
      .unknownAddress, "there is no address '\(request.address)'" + (near.map { ": did you mean '\($0)'?" } ?? ""))
  }

  /// What only we send, sent back by a controller. With an id it is a command, though one that nobody knows.
  func isEvent(_ request: OSCRequest) -> Bool {
    if request.id != nil { return false }
    switch request.address {
    case "/engine/configuration", "/graph/changed", "/late", "/taken", "/record/event": return true
    case "/engine/state": return !request.arguments.isEmpty
    default: return false
    }
  }

  // MARK: Answers

  func answer(_ request: OSCRequest, _ values: [OSCArgument]) {
    server.sendReply(values, for: request.address, id: request.id, to: request.peer)
  }

  func refuse(_ error: EngineError, _ address: String, _ id: OSCArgument?, _ peer: OSCPeer) {
    refusedCommands += 1
    server.sendError(error, for: address, id: id, to: peer)
  }

  // MARK: The fast path

  /// Sets a parameter straight from the packet; false where the message is anything else.
  private func setFast(_ message: OSCMessageView, from peer: OSCPeer) -> Bool {
    guard message.argumentCount == 1, transactions.isEmpty || transactions[peer] == nil else { return false }
    nonisolated(unsafe) let message = message  // it stays on this thread
    return engine.here { engine -> Bool in
      table.follow(engine.graphVersion)
      guard let place = table.find(message.address) ?? enter(message, engine) else { return false }
      var arguments = message.arguments
      guard let input = arguments.next()?.parameterInput else { return false }
      let entry = table[place]
      guard let value = try? entry.description.resolve(input) else { return false }
      let told = valueArgument(value, entry.description)
      if subscriptions.isEcho([told], at: entry.address, from: destination(peer)) {
        ignoredAnswers += 1
        return true
      }
      guard engine.set(slot: entry.slot, generation: entry.generation, parameter: entry.index, to: value) else {
        return false
      }
      onChange?(OSCMessage(entry.address, [told]), nil)
      subscriptions.changed(
        entry.address, to: [told], by: destination(peer), changedOnTheWay: !isSame(input, value))
      return true
    }
  }

  /// Looks a parameter's address up by name and remembers it.
  private func enter(_ message: OSCMessageView, _ engine: isolated Engine) -> Int? {
    guard message.hasAddressPrefix("/node/"), !message.isPattern else { return nil }
    let address = message.addressText
    let parts = address.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, let node = try? engine.node(String(parts[2])),
      let index = node.description.parameterIndex(named: String(parts[3])),
      let description = node.description.parameter(at: index), !description.isReadOnly
    else { return nil }
    return table.insert(
      message.address,
      ParameterTable.Entry(
        address: address, slot: node.slot, generation: node.generation, index: index, description: description))
  }
}

/// A value as OSC carries it: choices, counts and switches as whole numbers.
func valueArgument(_ value: Float, _ description: ParameterDescription) -> OSCArgument {
  description.kind == .continuous ? .float(value) : .int32(Int32(value))
}

/// True where a value is the one that was sent, not its nearest neighbour.
func isSame(_ input: ParameterInput, _ value: Float) -> Bool {
  switch input {
  case .int(let sent): Double(sent) == Double(value)
  case .float(let sent): sent == value
  case .double(let sent): Float(sent) == value
  case .bool(let sent): (sent ? 1 : 0) == value
  case .text: false
  }
}

/// Reads what units measure, for subscribers.
private final class ReadingSampler: @unchecked Sendable {
  // Why unchecked: set once before anything runs, then used on the control queue only.
  weak var router: CommandRouter?

  func sample(_ address: String) -> [OSCArgument]? { router?.currentValues(address) }
}
