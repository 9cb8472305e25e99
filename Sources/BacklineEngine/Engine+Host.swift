import BacklineDSP
import BacklineGraph
import BacklineRealtime
import CBackline

/// The life of the host: opened, running, lost, tried again (R15).
extension Engine {
  /// Seconds between two attempts to open a host: doubled from the first to the last.
  static let retryInterval = (first: 0.1, last: 1.0)

  /// Gives the engine a host and opens it under `name`. What becomes of it shows in `state`.
  public func start(_ host: any AudioHost, name: String) {
    cancelRetry()
    hosting.host = host
    hosting.name = name
    hosting.isEnding = false
    hosting.isRefused = false
    hosting.attempt = 0
    open()
  }

  /// Gives the engine another host in place of one that could not be opened.
  public func change(to host: any AudioHost, name: String) { start(host, name: name) }

  /// True when the host was refused for good: trying again would not help.
  public var isRefused: Bool { hosting.isRefused }

  /// Opens the host again that was stopped, or that was refused.
  public func startAgain() throws(EngineError) {
    guard let host = hosting.host else { throw EngineError(.unavailable, "there is no host to start") }
    switch state {
    case .stopped: start(host, name: hosting.name)
    case _ where hosting.isEnding || hosting.isClosing:
      throw EngineError(.busy, "the host is being stopped: start it when it has stopped")
    case .running: break
    case .unavailable where hosting.isRefused: start(host, name: hosting.name)
    default: throw EngineError(.busy, "the host is being opened already: \(state.name) \(state.cause)")
    }
  }

  /// The name that the host really has.
  public var hostName: String { hosting.name }

  /// The host that renders, or is waited for.
  public var host: (any AudioHost)? { hosting.host }

  /// Fades out, closes the host, and calls `completion` on the control queue; false when the host hangs.
  public func stop(_ completion: @escaping @Sendable (_ isClean: Bool) -> Void = { _ in }) {
    hosting.isEnding = true
    cancelRetry()
    guard let host = hosting.host else {
      change(to: .stopped)
      completion(true)
      return
    }
    var wait = 0.0
    if isRendering && host.fades {
      if sendFade() { sentEvents += 1 }
      wait = min(0.5, rampTime + 3 * Double(max(period, 64)) / sampleRate)
    }
    later(wait) { engine in
      host.close { isClean in
        engine.later { engine in
          engine.hasStopped(isClean)
          engine.change(to: .stopped)
          completion(isClean)
        }
      }
    }
  }

  /// Has the outputs fade out; false where the queue is full.
  private func sendFade() -> Bool {
    var fade = RenderEvent(
      slot: RenderEvent.master, generation: 0, parameter: 0, value: 0, rampFrames: rampFrames(), serial: 0)
    if let order = reenactment?.order {
      reenactment?.groups[order] = [fade]
      return true
    }
    if let changeLog {
      fade.id = changeLog.eventID()
      changeLog.way = .queue(fade.id)
      changeLog.note(.fadedOut, isStructural: false, now: exchange.pointee.currentFrame)
    }
    return exchange.pointee.send(fade)
  }

  /// Fades the outputs out for good, as `stop` does; the host goes on.
  public func fadeOut() { if sendFade() { sentEvents += 1 } }

  // MARK: Events of the host

  private func open() {
    guard let host = hosting.host else { return }
    let configuration = HostConfiguration(
      name: hosting.name, inputPorts: store.ports.inputs.flatMap { $0 }, outputPorts: store.ports.outputs.flatMap { $0 }
    )
    hosting.configuration = configuration
    hosting.opening += 1
    hosting.isClosing = false
    let opening = hosting.opening
    host.open(configuration, render: renderCycle, state: UnsafeMutableRawPointer(core)) { [weak self] event in
      // What an earlier opening has still to say is of no interest any more.
      self?.later { if $0.hosting.opening == opening { $0.handle(event) } }
    }
  }

  private func handle(_ event: HostEvent) {
    // What does not fit the host's present state is the echo of an earlier one: two causes of one loss, a start that was
    // overtaken by the end.
    if hosting.isEnding || !isExpected(event) { return }
    switch event {
    case .opened(let name, let rate, let newPeriod):
      hosting.name = name
      opened(rate: rate, newPeriod)
    case .failed(.noServer(let reason)):
      // Planned before it is told, since whoever hears of it may choose another host.
      let wait = planRetry()
      change(to: .unavailable(reason))
      if hosting.retry != nil { emit(.retrying(attempt: hosting.attempt, after: wait)) }
    case .failed(.refused(let reason)):
      refused(reason)
    case .started:
      hosting.attempt = 0
      change(to: .running)
    case .lost(let reason):
      lost(reason)
    case .periodChanged(let new):
      if new == period { return }
      let old = period
      period = new
      epoch += 1
      emit(.configurationChanged(cause: "period", old: old, new: new, epoch: epoch))
    case .sampleRateChanged(let new):
      if Double(new) != sampleRate { lost("the sample rate changed to \(new) Hz") }
    case .xrun, .freewheel, .portsChanged:
      break
    }
  }

  private func isExpected(_ event: HostEvent) -> Bool {
    switch event {
    case .opened, .failed(.noServer): !hosting.isOpen && !hosting.isClosing
    case .failed(.refused): !hosting.isClosing
    case .started, .lost, .periodChanged, .sampleRateChanged: hosting.isOpen
    case .xrun, .freewheel, .portsChanged: true
    }
  }

  /// The rates in Hz that a host may have.
  private static let sampleRates = 8_000...768_000

  private func opened(rate: Int, _ newPeriod: Int) {
    hosting.isOpen = true
    guard Self.sampleRates.contains(rate), newPeriod >= 0 else {
      return refused("a server of \(rate) Hz and \(newPeriod) frames: only 8000 to 768000 Hz can be worked with")
    }
    hosting.arePortsStale = true
    let oldRate = sampleRate, oldPeriod = period
    do throws(EngineError) {
      try takeRate(Double(rate))
    } catch {
      return refused(error.message)
    }
    period = newPeriod
    employ()
    flush()
    settle()
    layPorts()
    epoch += 1
    if rate != Int(oldRate) {
      emit(.configurationChanged(cause: "sampleRate", old: Int(oldRate), new: rate, epoch: epoch))
    }
    if newPeriod != oldPeriod && oldPeriod != 0 {
      emit(.configurationChanged(cause: "period", old: oldPeriod, new: newPeriod, epoch: epoch))
    }
    let host = hosting.host
    let fades = host?.fades ?? true
    if fades {
      // Sound that is already there comes in without a step.
      core.pointee.setMaster(isMuted ? 0 : 1, from: 0, over: Int32((rampTime * sampleRate).rounded()))
    } else {
      core.pointee.setMaster(isMuted ? 0 : 1, from: 0, over: 0)
      // A rendering has the same bits whatever was rendered before.
      core.pointee.alignFrame()
    }
    hosting.frameOffset = exchange.pointee.currentFrame - (host?.renderedFrames ?? 0)
    isRendering = true
    beginLog()
    hosting.host?.setLatencies(latencies)
    hosting.host?.start()
    planRebalance()
  }

  private func refused(_ reason: String) {
    hosting.isRefused = true
    change(to: .unavailable(reason))
    // One that had been opened, and did not start, has to be closed; a host that never opened has nothing to close.
    closeLost { _ in }
  }

  private func lost(_ reason: String) {
    change(to: .interrupted(reason))
    closeLost { engine in
      if engine.hosting.isEnding { return }
      _ = engine.planRetry()
      engine.change(to: .recovering(engine.hosting.attempt))
    }
  }

  private func closeLost(_ then: @escaping @Sendable (isolated Engine) -> Void) {
    hosting.isOpen = false
    hosting.isClosing = true
    let opening = hosting.opening
    hosting.host?.close { [self] isClean in
      later { engine in
        // Another host may have been opened meanwhile.
        if engine.hosting.opening != opening { return }
        engine.hosting.isClosing = false
        engine.hasStopped(isClean)
        then(engine)
      }
    }
  }

  private func hasStopped(_ isClean: Bool) {
    hosting.isOpen = false
    endLog()
    isRendering = false
    dismiss(isClean: isClean)
    tidy()
    flush()
    answerWaiters()
  }

  /// Opens the host again after a while, the longer the more attempts there have been; the seconds until then.
  private func planRetry() -> Double {
    cancelRetry()
    hosting.attempt += 1
    let wait = min(Self.retryInterval.last, Self.retryInterval.first * Double(1 << min(hosting.attempt - 1, 5)))
    hosting.retry = later(wait) { $0.open() }
    return wait
  }

  private func cancelRetry() {
    if let retry = hosting.retry { executor.cancel(retry) }
    hosting.retry = nil
  }

  func change(to new: EngineState) {
    if new == state { return }
    state = new
    noteTransition()
    emit(.stateChanged(new))
  }

  // MARK: Ports

  /// Has the host lay out its ports as the present plan needs them.
  ///
  /// Ports that the graph has no use for any more stay until what is heard through them has faded out (R4).
  func layPorts() {
    guard hosting.arePortsStale, hosting.isOpen, let before = hosting.configuration else { return }
    hosting.arePortsStale = false
    var wanted = before
    wanted.inputPorts = store.ports.inputs.flatMap { $0 }
    wanted.outputPorts = store.ports.outputs.flatMap { $0 }
    if store.hasOldPorts {
      var taken = Set(wanted.inputPorts + wanted.outputPorts)
      let free = { (name: String) -> String in
        var name = name
        while !taken.insert(name).inserted { name += "~" }
        return name
      }
      wanted.inputPorts += before.inputPorts.dropFirst(wanted.inputPorts.count).map(free)
      wanted.outputPorts += before.outputPorts.dropFirst(wanted.outputPorts.count).map(free)
    }
    if wanted == before { return }
    hosting.configuration = wanted
    hosting.host?.setPorts(wanted)
  }

  // MARK: Another rate

  /// Has the graph run at another rate, before a host says so; not while one renders.
  public func changeRate(to new: Double) throws(EngineError) {
    if isRendering || new == sampleRate && !isHalfBuilt { return }
    try takeRate(new)
    flush()
  }

  /// Has every unit be of a sample rate. Nothing renders. Where memory runs out on the way, nothing may render either, until a
  /// rate is taken as a whole.
  private func takeRate(_ new: Double) throws(EngineError) {
    if new == sampleRate && !isHalfBuilt { return }
    tidy()
    let before = sampleRate
    sampleRate = new
    isHalfBuilt = true
    for node in store.nodes.compactMap({ $0 }) {
      guard hasMemory(for: node.description) else {
        sampleRate = before
        throw EngineError(
          .limitReached, "there is not enough memory left for '\(node.name)' at \(Int(new)) Hz: remove nodes")
      }
      let old = (node.instance, node.state)
      generations[Int(node.slot)] &+= 1
      node.generation = generations[Int(node.slot)]
      (node.instance, node.state) = makeInstance(node.description, node.values, node.slot, node.readings)
      (old.0.control as? any UnitControl)?.end()
      node.latency = node.description.latency(new, node.values)
      store.topology.nodes[Int(node.slot)].state = node.state
      store.topology.setLatency(Int32(node.latency), of: node.slot)
      announce(node)
      discard {
        old.0.deallocate()
        old.1.deallocate()
      }
    }
    isHalfBuilt = false
    store.isDirty = true
    graphVersion += 1
  }

  /// True where there is memory for one more unit of a kind at the present rate.
  func hasMemory(for unit: UnitDescription) -> Bool {
    SampleMemory.isAvailable(bytes: Int(Double(unit.memory) * max(1, sampleRate / 48_000)))
  }
}
