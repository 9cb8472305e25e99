import BacklineEngine
import BacklineJACK
import Synchronization

/// Starting, stopping, and what there is to know of it.
extension AudioEngine {
  /// The seconds that a host gets to answer.
  private static let patience = 10

  /// True while sound is rendered, or manual rendering may be asked for. A start that has failed leaves it false.
  public var isRunning: Bool { life.state == .running }

  /// Whether sound runs, and if not, why.
  public var state: AudioEngineState { AudioEngineState(life.state) }

  /// Frames a second of the graph: the server's, or those of manual rendering. 48 000 until one of them is known.
  public var sampleRate: Double { Double(bitPattern: life.sampleRate.load(ordering: .relaxed)) }

  /// Calls `observer` with all that happens from now on, on a thread of the engine's.
  public func observe(_ observer: @escaping @Sendable (AudioEngineEvent) -> Void) throws(AudioError) {
    life.observe(try eventCourier(), observer)
  }

  /// Does ahead what would be done at the start: compiles the graph and reads what players have to play. Optional.
  public func prepare() {
    engine.wait { $0.flush() }
    try? couriers.withLock({ $0.reader })?.fillSynchronously()
  }

  /// Begins to render, and returns when it does: opens the sound server, or what manual rendering renders with. Players and units go
  /// on where they were. Does nothing where the engine runs.
  ///
  /// Throws where there is no server or it refuses (the engine is stopped then; trying again later may help), and where a
  /// connection's rate does not go with the engine's.
  public func start() throws(AudioError) {
    let result = transition.withLock { _ in Result { () throws(AudioError) in try startHost() } }
    try result.get()
  }

  private func startHost() throws(AudioError) {
    if isRunning { return }
    if engine.executor.isCurrent {
      throw AudioError(.notAllowed, "an engine cannot be started from its control queue: start it from another thread")
    }
    let host = try makeHost()
    let name = configuration.name
    // What a stop has left behind has to be over first.
    if life.state != .stopped { stopHost() }
    let offset = try control { engine throws(AudioError) in
      engine.start(host, name: name)
      return (engine.currentFrame + 31) & ~31
    }
    _ = life.wait(Self.patience) { state in
      switch state {
      case .running, .unavailable: true
      default: false
      }
    }
    guard isRunning else {
      let reason = life.state.cause
      stopHost()
      throw AudioError(.unavailable, reason.isEmpty ? "the sound server does not answer" : reason)
    }
    do throws(AudioError) {
      try control { engine throws(AudioError) in
        try checkRates(engine)
        followLatency(engine)
      }
    } catch {
      stopHost()
      throw error
    }
    let mode = manual.withLock { $0.mode }
    life.timelineBase.store(mode == nil ? 0 : offset - host.renderedFrames, ordering: .relaxed)
    couriers.withLock { $0.reader }?.setRunning(mode != .offline)
  }

  private func makeHost() throws(AudioError) -> any AudioHost {
    if let host = manual.withLock({ $0.host }) { return host }
    if let host = life.host { return host }
    do throws(EngineError) {
      let host: any AudioHost =
        switch configuration.output {
        case .jack(let options): try JACKHost(options)
        case .timer(let sampleRate, let period): try TimerHost(sampleRate: sampleRate, period: period)
        case .host(let host): host
        }
      life.host = host
      return host
    } catch {
      throw AudioError(error)
    }
  }

  /// Refuses connections that would need a conversion that nobody makes.
  private func checkRates(_ engine: isolated Engine) throws(AudioError) {
    graph.followRate(engine.sampleRate)
    for connection in graph.connections where connection.format.sampleRate != engine.sampleRate {
      if leadsToSource(connection) { continue }
      let own = AudioFormat(sampleRate: engine.sampleRate, channelCount: connection.format.channelCount)
      let name = graph.entries[connection.source.node]?.node.kindName ?? "node"
      throw .mismatch(
        connection.format, own,
        "the \(name) gives the engine's rate: connect it again without a format, or with this one")
    }
  }

  /// True where all that comes through a connection was made by sources, which are converted.
  private func leadsToSource(_ connection: AudioGraph.Connection) -> Bool {
    var waiting = [connection.source.node]
    var seen: Set<ObjectIdentifier> = []
    while let id = waiting.popLast() {
      guard seen.insert(id).inserted, let node = graph.entries[id]?.node else { continue }
      if node.isSource { continue }
      // A mixer gives the engine's rate, whatever was said of it before that was known.
      if node.convertsRate || node is InputNode { return false }
      waiting += graph.connections.filter { $0.destination.node == id }.map(\.source.node)
    }
    return true
  }

  /// Ends rendering and keeps everything as it is, tails and players included: `start` goes on from there.
  public func pause() { transition.withLock { _ in stopHost() } }

  /// Ends rendering. Units forget past sound; what is scheduled with players, and their positions, stay.
  public func stop() {
    pause()
    try? control { engine throws(AudioError) in
      let units = graph.entries.values.filter { $0.node is UnitNode }
      try perform(units.map { .reset($0.name) }, engine)
      engine.flush()
    }
  }

  private func stopHost() {
    couriers.withLock { $0.reader }?.setRunning(false)
    if life.state == .stopped { return }
    engine.wait { $0.stop() }
    if !engine.executor.isCurrent { _ = life.wait(5) { $0 == .stopped } }
    for schedule in schedules { schedule.collect() }
  }

  /// Has every unit forget past sound, and every player what is scheduled. The graph and its parameters stay.
  public func reset() {
    for node in attachedNodes { node.reset() }
  }

  func reset(_ node: AudioNode) throws(AudioError) {
    try control { engine throws(AudioError) in
      let entry = try graph.entry(node)
      if node is UnitNode { try perform([.reset(entry.name)], engine) }
    }
  }

  var schedules: [PlayerSchedule] {
    engine.wait { _ in graph.entries.values.compactMap { ($0.node as? PlayerNode)?.schedule } }
  }

  // MARK: Time

  /// The kernel's frame that the engine's timeline counts from.
  var timelineBase: Int64 { life.timelineBase.load(ordering: .relaxed) }

  /// The frame that comes next on the engine's timeline, with its time on the clock where there is one; `nil` while it does
  /// not run.
  public var lastRenderTime: AudioTime? {
    guard isRunning else { return nil }
    let frame = engine.renderedFrame
    let rate = sampleRate
    let hostTime = hostTime(of: frame, rate)
    return AudioTime(sampleTime: frame - timelineBase, sampleRate: rate, hostTime: hostTime)
  }

  /// The time of the clock at which a frame plays.
  private func hostTime(of frame: Int64, _ rate: Double) -> Int64? {
    guard let now = AudioTime.now.hostTime, let current = kernelFrame(at: now) else { return nil }
    return now + Int64((Double(frame - current) / rate * 1e9).rounded())
  }

  /// The kernel's frame that plays at a time of the clock.
  func kernelFrame(at hostTime: Int64) -> Int64? { engine.wait { $0.frame(at: AudioTime.held(hostTime)) } }

  /// The kernel's frame that a time of the engine's timeline, or of the clock, means.
  func kernelFrame(of time: AudioTime) -> Int64? {
    if let frame = time.frame(at: sampleRate) { return frame + timelineBase }
    return time.hostTime.flatMap { kernelFrame(at: $0) }
  }

  /// Seconds by which sound leaves the graph later than it was made or came in, on the longest way.
  public var latency: Double { engine.wait { Double($0.longestLatency) / $0.sampleRate } }

  /// Seconds that sound takes outside of the engine while it runs on a host.
  var presentationLatencies: (input: Double, output: Double) {
    guard isRunning, manualRenderingMode == nil else { return (0, 0) }
    let frames = life.outsideLatencies
    return (Double(frames.input) / sampleRate, Double(frames.output) / sampleRate)
  }

  func latency(of node: AudioNode) -> Double {
    engine.wait { engine in
      guard let entry = graph.entries[ObjectIdentifier(node)], let frames = try? engine.latency(of: entry.name) else {
        return 0
      }
      return Double(frames) / engine.sampleRate
    }
  }

  /// Notes how long sound takes to leave the engine.
  func followLatency(_ engine: isolated Engine) {
    let isLive = manual.withLock { $0.mode == nil }
    life.heardLatency.store(engine.longestLatency + (isLive ? engine.period : 0), ordering: .relaxed)
  }

  // MARK: Players

  func play(_ schedule: PlayerSchedule, at time: AudioTime?) throws(AudioError) {
    guard isRunning else {
      throw AudioError(.notRunning, "a player plays in a running engine only: start the engine first")
    }
    var frame: Int64?
    if let time {
      guard let found = kernelFrame(of: time) else {
        throw AudioError(.notRunning, "a time of the clock means a frame only while the engine runs on a clock")
      }
      frame = found
    }
    engine.wait { $0.flush() }
    schedule.play(at: frame)
  }

  /// Gives a player a command, and carries it out where nothing renders that would.
  func transport(_ schedule: PlayerSchedule, _ command: @Sendable (PlayerSchedule) -> Void) {
    engine.wait { engine in
      command(schedule)
      if !engine.isRenderingNow { schedule.takeInWhileIdle(at: engine.currentFrame) }
    }
  }

  // MARK: Parameters

  func setParameter(of node: AudioNode, _ index: Int, _ value: Float, ramp: Double?) throws(AudioError) {
    try control { engine throws(AudioError) in
      let entry = try graph.entry(node)
      try perform([.set(node: entry.name, parameter: index, value: value, ramp: ramp)], engine)
      followLatency(engine)
    }
  }

  func reading(of node: AudioNode, _ index: Int) -> Float? {
    engine.wait { engine in
      graph.entries[ObjectIdentifier(node)].flatMap { try? engine.value($0.name, index) }
    }
  }

  func setBypass(of node: AudioNode, _ isBypassed: Bool) {
    try? control { engine throws(AudioError) in
      try perform([.bypass(try graph.entry(node).name, isBypassed)], engine)
    }
  }
}
