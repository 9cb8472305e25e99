import BacklineDSP
import BacklineGraph
import CBackline

/// The life of the host: opened, running, lost, tried again (R15).
extension Engine {
  /// Seconds between two attempts to open a host: doubled from the first to the last.
  static let retryInterval = (first: 0.1, last: 1.0)

  /// Gives the engine a host and opens it under `name`. What becomes of it shows in `state`.
  public func start(_ host: any AudioHost, name: String) {
    hosting.host = host
    hosting.name = name
    hosting.isEnding = false
    hosting.attempt = 0
    open()
  }

  /// Gives the engine another host in place of one that could not be opened.
  public func change(to host: any AudioHost, name: String) {
    if let retry = hosting.retry { executor.cancel(retry) }
    hosting.retry = nil
    start(host, name: name)
  }

  /// True when the host was refused for good: trying again would not help.
  public var isRefused: Bool { hosting.isRefused }

  /// Opens the host again that was stopped.
  public func startAgain() throws(EngineError) {
    guard let host = hosting.host else { throw EngineError(.unavailable, "there is no host to start") }
    switch state {
    case .stopped: start(host, name: hosting.name)
    case .running: break
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
    if let retry = hosting.retry { executor.cancel(retry) }
    hosting.retry = nil
    guard let host = hosting.host else {
      change(to: .stopped)
      completion(true)
      return
    }
    var wait = 0.0
    if isRendering {
      let fade = RenderEvent(
        slot: RenderEvent.master, generation: 0, parameter: 0, value: 0, rampFrames: rampFrames(), serial: 0)
      if core.pointee.send(fade) { sentEvents += 1 }
      wait = min(0.5, rampTime + 3 * Double(max(period, 64)) / sampleRate)
    }
    later(wait) { engine in
      host.close { isClean in
        engine.later { engine in
          engine.hasStopped()
          engine.change(to: .stopped)
          completion(isClean)
        }
      }
    }
  }

  // MARK: Events of the host

  private func open() {
    guard let host = hosting.host else { return }
    let configuration = HostConfiguration(
      name: hosting.name, inputPorts: store.ports.inputs.flatMap { $0 }, outputPorts: store.ports.outputs.flatMap { $0 }
    )
    hosting.arePortsStale = false
    host.open(configuration, render: renderCycle, state: UnsafeMutableRawPointer(core)) { [self] event in
      later { $0.handle(event) }
    }
  }

  private func handle(_ event: HostEvent) {
    switch event {
    case .opened(let name, let rate, let newPeriod):
      hosting.name = name
      opened(rate: rate, newPeriod)
    case .failed(.noServer(let reason)):
      change(to: .unavailable(reason))
      retry()
    case .failed(.refused(let reason)):
      hosting.isRefused = true
      change(to: .unavailable(reason))
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

  private func opened(rate: Int, _ newPeriod: Int) {
    if hosting.isEnding { return }
    let oldRate = sampleRate, oldPeriod = period
    if Double(rate) != sampleRate { rebuild(sampleRate: Double(rate)) }
    flush()
    period = newPeriod
    epoch += 1
    if rate != Int(oldRate) {
      emit(.configurationChanged(cause: "sampleRate", old: Int(oldRate), new: rate, epoch: epoch))
    }
    if newPeriod != oldPeriod && oldPeriod != 0 {
      emit(.configurationChanged(cause: "period", old: oldPeriod, new: newPeriod, epoch: epoch))
    }
    // Sound that is already there comes in without a step.
    core.pointee.setMaster(isMuted ? 0 : 1, from: 0, over: Int32((rampTime * sampleRate).rounded()))
    isRendering = true
    hosting.host?.setLatencies(latencies)
    hosting.host?.start()
  }

  private func lost(_ reason: String) {
    if hosting.isEnding { return }
    change(to: .interrupted(reason))
    hosting.host?.close { [self] _ in
      later { engine in
        engine.hasStopped()
        if !engine.hosting.isEnding { engine.retry() }
      }
    }
  }

  private func hasStopped() {
    isRendering = false
    tidy()
    flush()
    answerWaiters()
  }

  private func retry() {
    hosting.attempt += 1
    if case .unavailable = state {} else { change(to: .recovering(hosting.attempt)) }
    let wait = min(Self.retryInterval.last, Self.retryInterval.first * Double(1 << min(hosting.attempt - 1, 5)))
    hosting.retry = later(wait) { $0.open() }
  }

  func change(to new: EngineState) {
    if new == state { return }
    state = new
    emit(.stateChanged(new))
  }

  // MARK: Another rate

  /// Makes every unit anew for another sample rate. Nothing renders.
  private func rebuild(sampleRate new: Double) {
    tidy()
    sampleRate = new
    for node in store.nodes.compactMap({ $0 }) {
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
    store.isDirty = true
    graphVersion += 1
  }
}
