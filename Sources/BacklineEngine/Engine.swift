import BacklineDSP
import BacklineGraph
import BacklineRealtime
import CBackline
import Glibc
import Synchronization

/// The control side: owns the graph, compiles it, and tells the render thread about it. Everything runs on its control queue.
public actor Engine {
  /// The control queue.
  public nonisolated let executor: ControlExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The units that there are.
  public nonisolated let catalog: UnitCatalog
  /// Seconds over which edits and parameter changes are ramped (R4): 0 to 60.
  public nonisolated let rampTime: Double
  /// The longest that a removed node rings out, in seconds (R5).
  public static let longestTail = 30.0
  public static let nodeLimit = 16_384
  public static let connectionLimit = 65_536
  public static let scheduledLimit = 4_096
  static let undoLimit = 1_000

  /// The render thread's while a host renders.
  nonisolated(unsafe) let core: UnsafeMutablePointer<RenderCore>
  /// What is shared with it.
  nonisolated(unsafe) let exchange: UnsafeMutablePointer<RenderExchange>
  let wakeDescriptor: Int32
  private let ownsExecutor: Bool

  var store = GraphStore()
  /// The ways of channels that users gave, by connection.
  var maps: [Int32: ChannelMap] = [:]
  /// Units that belong to one user of this engine and are in no catalog.
  var ownUnits: [String: UnitDescription] = [:]
  /// The alignment lines of connections that have one: the control queue's, freed with the engine.
  nonisolated(unsafe) var lines: [Int32: UnsafeMutablePointer<AlignmentLine>] = [:]
  var generations: [UInt32] = []
  var undoStack: [UndoStep] = []
  var redoStack: [UndoStep] = []
  /// Counts the changes of the graph, so that others can tell whether what they remember still holds.
  public internal(set) var graphVersion = 0

  /// True while an undo or a redo is told, so that a node that comes back can be told from a new one.
  public internal(set) var isReplaying = false

  // Publishing
  var nextSerial: Int32 = 1
  var lastOffered: Int32 = 0
  var offered: OfferedPlan?
  /// A plan with a frame of its own, made after that one.
  var offeredTimed: OfferedPlan?
  /// Plans that have been compiled and not freed.
  var livePlans = 0
  var garbage: [Garbage] = []
  var waiters: [Waiter] = []
  var tidyTimer: ControlExecutor.Timer?
  /// Connections that the present tidying has drawn out of the graph.
  var removedEdges: Set<Int32> = []
  var sentEvents = 0
  var backlog = EventBacklog()
  var scheduledSent = 0
  /// Plans that were taken after the frame that they were meant for.
  var latePlans = 0
  var latencies = LatencyMap([])

  // Audio
  public internal(set) var sampleRate = Engine.initialSampleRate
  /// True where memory ran out while units were made for this rate: some are of another one.
  var isHalfBuilt = false
  /// The rate that units are made for before a host says its own.
  public static let initialSampleRate = 48_000.0
  public internal(set) var period = 0
  public internal(set) var state = EngineState.stopped
  public internal(set) var epoch = 0
  /// The rack's tempo in beats a minute, once one has been set.
  var tempo: Float?
  /// The last changes of the state, oldest first.
  public internal(set) var transitions: [EngineTransition] = []
  public internal(set) var isMuted = false
  var isRendering = false
  var hosting = Hosting()
  /// How many threads are wanted.
  var threads = RenderThreads.one
  /// Those that render beside the host's; `nil` where it renders alone.
  var workers: WorkerThreads?
  /// Those of hosts that had to be left hanging.
  var leftBehind: [WorkerThreads] = []
  /// True when the last plan can be shared among threads, and what nodes took when it was made, in nanoseconds a frame.
  var isPlanShared = false
  var balanced: Float = 0
  /// True while one thread would take so much of the time there is that others should help.
  var isHelpNeeded = false
  var rebalanceTimer: ControlExecutor.Timer?
  /// Keeps what the render thread records into.
  var recordMemory: RecordMemory?

  /// Does a performance again that was taken down.
  var reenactment: Reenactment?
  /// Takes the performance down, from the first opening of the host on.
  var changeLog: ChangeLog?
  /// Something was done before taking down began that it would have to know.
  private var isCaptureSpoiled = false
  private(set) var changeObserver: (any ChangeObserver)?
  private var logTimer: ControlExecutor.Timer?

  var observers: [@Sendable (EngineEvent) -> Void] = []

  /// An engine without sound; `start(_:)` gives it a host. Frames count from `startFrame`, a multiple of the quantum: a host
  /// that tells frames by the clock counts from 0. `limitReached` where the system has no descriptors or no thread left.
  public init(
    catalog: UnitCatalog = .standard, executor: ControlExecutor? = nil, rampTime: Double = 0.01,
    startFrame: Int64 = 0
  ) throws(EngineError) {
    self.catalog = catalog
    ownsExecutor = executor == nil
    let queue: ControlExecutor
    if let executor { queue = executor } else { queue = try ControlExecutor() }
    self.executor = queue
    self.rampTime = rampTime.isFinite ? min(max(0, rampTime), 60) : 0.01
    wakeDescriptor = backline_event_create()
    guard wakeDescriptor >= 0 else {
      if executor == nil { queue.shutdown() }
      throw EngineError(.limitReached, "no descriptors left for the engine: allow more open files (ulimit -n)")
    }
    core = .allocate(capacity: 1)
    core.initialize(to: RenderCore(wakeDescriptor: wakeDescriptor, startFrame: startFrame))
    exchange = core.pointee.exchange
    let descriptor = wakeDescriptor
    self.executor.watch(descriptor) { [weak self] in
      backline_event_clear(descriptor)
      self?.assumeIsolated { $0.wake() }
    }
  }

  /// Calls `observer` on the control queue whenever something happens.
  public func observe(_ observer: @escaping @Sendable (EngineEvent) -> Void) { observers.append(observer) }

  /// Has `observer` take down everything that happens from the first opening of the host on, until it closes or its ports
  /// change. Before `start(_:name:)`.
  public func record(_ observer: any ChangeObserver) { changeObserver = observer }

  func emit(_ event: EngineEvent) {
    for observer in observers { observer(event) }
  }

  /// The frames of a ramp of `seconds`; none where nobody listens.
  func rampFrames(_ seconds: Double? = nil) -> Int32 {
    guard isRendering else { return 0 }
    return Int32(min(max(0, (seconds ?? rampTime) * sampleRate), Double(Int32.max / 2)).rounded())
  }

  // MARK: Units

  /// A kind of unit by its name: one of the catalog, or one that has been registered.
  func unit(_ kind: String) -> UnitDescription? { catalog[kind] ?? ownUnits[kind] }

  /// Takes a kind of unit in that no catalog has, such as one around a function of the caller's. It is not listed anywhere.
  public func register(_ description: UnitDescription) throws(EngineError) {
    if unit(description.kind) != nil {
      throw EngineError(.nameTaken, "there is a unit '\(description.kind)' already: choose another name for the kind")
    }
    ownUnits[description.kind] = description
  }

  /// Forgets a kind that has been registered. Nodes of that kind stay.
  public func unregister(_ kind: String) { ownUnits[kind] = nil }

  // MARK: Transactions

  /// Applies commands as one transaction: all at one frame, or none.
  ///
  /// At `frame`, absolute, where one is given, else as soon as the render thread gets to it.
  public func perform(_ commands: [Command], at frame: Int64? = nil) throws(TransactionError) {
    publishBefore(frame)
    // Asked before anything is done, since a node may become another in between.
    let names = changeLog == nil ? [] : parameterNames(commands)
    var transaction = Transaction(frame: frame, garbageCount: garbage.count)
    let actions = store.actions.count
    let needsCopy = commands.count > 1 || commands.contains(where: \.hasSteps)
    let before = needsCopy ? store : nil
    let mapsBefore = needsCopy ? maps : [:]
    for (index, command) in commands.enumerated() {
      do throws(EngineError) {
        try apply(command, &transaction)
      } catch {
        if let before { rollBack(to: before, maps: mapsBefore, transaction) }
        throw TransactionError(index: index, error: error)
      }
    }
    transaction.isStructural = store.actions.count != actions || !transaction.inverse.isEmpty
    commit(&transaction)
    log(.commands(commands, parameterNames: names), transaction)
    if !transaction.inverse.isEmpty {
      let isPreset = transaction.changes.contains { $0.kind == .preset }
      undoStack.append(UndoStep(edits: transaction.inverse.reversed(), isPreset: isPreset))
      if undoStack.count > Self.undoLimit { undoStack.removeFirst() }
      redoStack.removeAll()
    }
  }

  /// Refuses what `perform(_:at:)` would refuse, and changes nothing.
  public func check(_ commands: [Command]) throws(TransactionError) {
    var transaction = Transaction(frame: nil, garbageCount: garbage.count)
    let before = store
    let mapsBefore = maps
    defer { rollBack(to: before, maps: mapsBefore, transaction) }
    for (index, command) in commands.enumerated() {
      do throws(EngineError) {
        try apply(command, &transaction)
      } catch {
        throw TransactionError(index: index, error: error)
      }
    }
  }

  /// One command as a transaction of its own.
  public func perform(_ command: Command) throws(EngineError) {
    do {
      try perform([command])
    } catch {
      throw error.error
    }
  }

  /// Takes the last change of the graph back; `notFound` where there is none.
  public func undo() throws(EngineError) {
    guard let step = undoStack.last else { throw EngineError(.notFound, "there is nothing to undo") }
    redoStack.append(try replay(step, .undo))
    undoStack.removeLast()
  }

  /// Makes the last change that was taken back again.
  public func redo() throws(EngineError) {
    guard let step = redoStack.last else { throw EngineError(.notFound, "there is nothing to redo") }
    undoStack.append(try replay(step, .redo))
    redoStack.removeLast()
  }

  /// Applies recorded edits; returns what takes them back.
  private func replay(
    _ step: UndoStep, _ change: RecordedChange.Kind
  ) throws(EngineError) -> UndoStep {
    var transaction = Transaction(frame: nil, garbageCount: garbage.count)
    let before = store
    let mapsBefore = maps
    for edit in step.edits {
      do throws(EngineError) {
        try self.edit(edit, &transaction)
      } catch {
        rollBack(to: before, maps: mapsBefore, transaction)
        throw error
      }
      if !step.isPreset, let change = edit.change { transaction.changes.append(change) }
    }
    transaction.isStructural = true
    if step.isPreset { transaction.changes.append((.preset, "")) }
    isReplaying = true
    commit(&transaction)
    log(change, transaction)
    emit(.valuesChanged)
    isReplaying = false
    return UndoStep(edits: transaction.inverse.reversed(), isPreset: step.isPreset)
  }

  private func rollBack(to before: GraphStore, maps: [Int32: ChannelMap], _ transaction: Transaction) {
    for restore in transaction.restores.reversed() { restore() }
    garbage.removeLast(garbage.count - transaction.garbageCount)
    let edges = transaction.newEdges.compactMap { store.topology.edges[Int($0)].state }
    store = before
    self.maps = maps
    for node in transaction.newNodes { Self.free(node) }
    for edge in edges { Self.free(edge) }
  }

  private func commit(_ transaction: inout Transaction) {
    if !transaction.inverse.isEmpty { graphVersion += 1 }
    if let isMuted = transaction.isMuted { self.isMuted = isMuted }
    sendGroup(transaction.events, at: transaction.frame, isStructural: transaction.isStructural)
    if transaction.isStructural && store.isDirty, let frame = transaction.frame {
      wantedFrame = max(wantedFrame ?? frame, frame)
    }
    for change in transaction.changes { emit(.graphChanged(change.kind, name: change.name)) }
    if store.isDirty || !isRendering { needsFlush() }
  }

  // MARK: Taking down

  private func log(_ change: RecordedChange.Kind, _ transaction: Transaction) {
    changeLog?.note(change, isStructural: transaction.isStructural && store.isDirty, now: exchange.pointee.currentFrame)
  }

  /// The name of the parameter that each command sets; empty for the others.
  private func parameterNames(_ commands: [Command]) -> [String] {
    var made: [String: UnitDescription] = [:]
    func unit(_ name: String) -> UnitDescription? { made[name] ?? (try? store.node(name))?.description }
    return commands.map { command in
      switch command {
      case .add(let kind, let name, _), .insert(let kind, let name, _, _), .replace(let name, let kind):
        made[name] = catalog[kind]
      case .rename(let name, let new): made[new] = unit(name)
      case .set(let node, let parameter, _, _): return unit(node)?.parameter(at: parameter)?.name ?? ""
      default: break
      }
      return ""
    }
  }

  /// Says that something was done that is not taken down, so that what has been is not the whole.
  public func spoilCapture() {
    if let changeLog { changeLog.spoil() } else { isCaptureSpoiled = true }
  }

  /// True while a performance is being taken down.
  public var isCapturing: Bool { changeLog != nil }

  /// Takes down a command to a unit by itself, whose frame `frame` answers as soon as it is known.
  public func capture(_ address: String, _ arguments: [UnitArgument], frame: @escaping () -> Int64?) {
    changeLog?.noteUnit(address, arguments, frame: frame)
  }

  /// Has a unit say at the end whether all that was heard of it followed from what is taken down.
  public func captureWitness(_ isExact: @escaping () -> Bool) { changeLog?.addWitness(isExact) }

  /// Begins to take down what is rendered from the frame 0 on.
  func beginLog() {
    guard let observer = changeObserver, exchange.pointee.currentFrame == 0 else { return }
    changeObserver = nil
    let log = ChangeLog(observer)
    if isCaptureSpoiled { log.spoil() }
    changeLog = log
    observer.performanceBegan(graph: graph, sampleRate: sampleRate, rampTime: rampTime)
    logTimer = executor.schedule(after: 0.01, repeating: 0.01) { [weak self] in
      self?.assumeIsolated { engine in
        engine.collect()
        engine.changeLog?.askUnits()
      }
    }
  }

  /// Ends it.
  func endLog() {
    if let logTimer { executor.cancel(logTimer) }
    logTimer = nil
    guard let log = changeLog else { return }
    collect()
    if exchange.pointee.lostReports > 0 { log.spoil() }
    changeLog = nil
    log.end()
  }

  /// Publishes what has been changed so far, so that what comes now with a frame of its own does not take it along.
  func publishBefore(_ frame: Int64?) {
    if frame != nil && store.isDirty && hosting.host?.isOffline != true { flush() }
  }

  var wantedFrame: Int64?
  var isFlushPlanned = false

  /// The earliest time of the next publication that nobody waits for, in nanoseconds of CLOCK_MONOTONIC.
  var nextPublication: Int64 = 0

  /// Publishes soon: at the end of what the control queue is doing, so that edits that arrive together are compiled
  /// together; and not before some time has passed since the last one, so that a stream of edits does not have the whole
  /// graph compiled for each.
  func needsFlush() {
    if reenactment != nil { return }
    // Offline it is for whoever asks for cycles to say when.
    if isFlushPlanned || (isRendering && hosting.host?.isOffline == true) { return }
    isFlushPlanned = true
    let wait = isRendering ? max(0, nextPublication - backline_now()) : 0
    later(Double(wait) / 1e9) { $0.flush() }
  }

  /// Does something on the control queue after `seconds`; the next thing that it does where there are none.
  @discardableResult
  nonisolated func later(
    _ seconds: Double = 0, _ work: @escaping @Sendable (isolated Engine) -> Void
  ) -> ControlExecutor.Timer {
    executor.schedule(after: seconds) { [weak self] in
      guard let engine = self else { return }
      engine.assumeIsolated { work($0) }
    }
  }

  /// Frees everything, once the host renders no more, should it still do so.
  deinit {
    executor.unwatch(wakeDescriptor)
    if ownsExecutor { executor.shutdown() }
    if hosting.isOpen, let host = hosting.host {
      let isCut = host.cut()
      host.close { _ in }
      // A cycle that hangs keeps what it works on.
      if !isCut {
        if let workers { _ = Unmanaged.passRetained(workers) }
        return
      }
    }
    workers?.end()
    close(wakeDescriptor)
    reenactment?.free()
    core.deinitialize(count: 1)
    core.deallocate()
    for item in garbage { item.free() }
    for line in lines.values { Self.free(line) }
    for node in store.nodes.compactMap({ $0 }) + store.ghosts.map(\.node) { Self.free(node) }
    for edge in store.topology.edges { if let state = edge.state { Self.free(state) } }
  }
}

/// The edits that take one transaction back, or make it again.
struct UndoStep {
  let edits: [GraphEdit]
  /// A whole graph came or went: told as such, not edit by edit.
  let isPreset: Bool
}

/// What one transaction has done so far.
struct Transaction {
  let frame: Int64?
  /// What takes it back, in the order of doing.
  var inverse: [GraphEdit] = []
  var events: [RenderEvent] = []
  /// True when it changes more than values.
  var isStructural = false
  var isMuted: Bool?
  var changes: [(kind: EngineEvent.GraphChange, name: String)] = []
  var newNodes: [GraphNode] = []
  var newEdges: [Int32] = []
  /// Puts back what is not part of the store.
  var restores: [() -> Void] = []
  /// How much waited to be freed before: what a transaction has given up is wanted again when it is rolled back.
  let garbageCount: Int

  init(frame: Int64?, garbageCount: Int) {
    self.frame = frame
    self.garbageCount = garbageCount
  }
}

/// A plan in the mailbox.
struct OfferedPlan {
  let serial: Int32
  let actions: [AdoptionAction]
  /// The frame that was asked for; the least number where none was.
  let frame: Int64
}

/// Something that is freed once the plan `serial` runs.
struct Garbage: @unchecked Sendable {
  // Why unchecked: it never leaves its engine.

  let serial: Int32
  let free: () -> Void
}

/// Someone who waits until the render thread has taken all that was sent before.
struct Waiter {
  let serial: Int32
  let events: Int
  let completion: @Sendable () -> Void
}
