import BacklineEngine
import BacklineRealtime
import CBackline
import Synchronization

/// The JACK host's state, owned by its event thread: every method but `init` and `end` runs there.
final class JACKCore: @unchecked Sendable {
  /// How long closing may take, in seconds.
  static let closingLimit = 2.0

  let record = HostRecord()
  let connections: ConnectionKeeper
  let isRealtime = Atomic<Bool>(false)
  let events: SerialThread
  /// What the engine has been told of a session.
  struct Reported {
    var period = 0
    var sampleRate = 0
    var xruns = 0
    var isFreewheeling = false
    var isBegun = false
    var isLost = false
    /// True while a look at the latencies is planned.
    var isFollowingLatencies = false
    /// Passes that were asked for since the connections last changed.
    var latencyPasses = 0
  }

  private let options: JACKOptions
  /// The session whose callback may be rendering, for `end`, which may come from any thread.
  private let rendering = Mutex<(session: JACKSession?, isEnded: Bool)>((nil, false))
  private var worker: SerialThread?
  private(set) var session: JACKSession?
  private var onEvent: (@Sendable (HostEvent) -> Void)?
  private var completions: [@Sendable (Bool) -> Void] = []
  private var latencies = LatencyMap([])
  private(set) var isOpened = false
  private var isStarted = false
  private(set) var isClosing = false
  /// What has been told of the present session.
  var reported = Reported()
  /// True when the last session had the name that it asked for.
  private var holdsName = false

  init(_ options: JACKOptions) throws(EngineError) {
    self.options = options
    connections = ConnectionKeeper(options.connections)
    let box = WeakBox<JACKCore>()
    events = try SerialThread(name: "jack-events") { box.value?.collect() }
    box.value = self
  }

  /// Lets everything go when the host is released: nothing is rendered any more, and an open client is closed behind its
  /// back. From any thread.
  func end() {
    let session = rendering.withLock { rendering in
      rendering.isEnded = true
      return rendering.session
    }
    _ = session?.flags.pointee.gate.shut(within: 2_000_000_000)
    events.run { [self] in
      if let session {
        session.notices.isClosing.store(true, ordering: .relaxed)
        session.worker.run { session.close() }
      }
      worker?.end()
      events.end()
    }
  }

  /// Has nothing rendered any more by the present session; false where a cycle hangs. From any thread.
  func cut() -> Bool {
    rendering.withLock { $0.session }?.flags.pointee.gate.shut(within: 2_000_000_000) ?? true
  }

  // MARK: Commands

  func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    guard session == nil else {
      return onEvent(.failed(.refused(isClosing ? "the JACK host is still closing" : "the JACK host is open already")))
    }
    let worker: SerialThread
    do throws(HostFailure) {
      try JACKSession.check(configuration)
      worker = try currentWorker()
    } catch {
      return onEvent(.failed(error))
    }
    let session = JACKSession(
      configuration, options: options, record: record, connections: connections, latencies: latencies, worker: worker,
      events: events, render: render, state: state)
    let isEnded = rendering.withLock { rendering in
      rendering.session = session
      return rendering.isEnded
    }
    if isEnded { return }
    self.session = session
    self.onEvent = onEvent
    let reclaimsName = holdsName
    run(session) { core, session in
      let result = session.open(reclaimsName: reclaimsName)
      core.events.run { core.opened(session, result) }
    }
  }

  /// The worker, made when there is none: at first, and after one had to be left behind.
  private func currentWorker() throws(HostFailure) -> SerialThread {
    if let worker { return worker }
    do throws(EngineError) {
      let worker = try SerialThread(name: "jack-worker")
      self.worker = worker
      return worker
    } catch {
      throw .refused(error.message)
    }
  }

  /// Runs a job on the session's worker; closes the session after it where the host had to give the session up meanwhile.
  func run(_ session: JACKSession, _ job: @escaping @Sendable (JACKCore, JACKSession) -> Void) {
    session.worker.run { [self] in
      job(self, session)
      if session.isAbandoned.load(ordering: .acquiring) { session.close() }
    }
  }

  private func opened(_ session: JACKSession, _ result: Result<JACKSession.Opened, HostFailure>) {
    guard self.session === session else { return }
    switch result {
    case .failure(let failure):
      let onEvent = onEvent
      if isClosing { return }  // the job that closes follows
      forget()
      onEvent?(.failed(failure))
    case .success(let opened):
      isOpened = true
      let asked = session.configuration.name
      holdsName = opened.name == asked
      if !holdsName { options.log("the client name \(asked) is taken; this client is \(opened.name)") }
      reported = Reported(period: opened.period, sampleRate: opened.sampleRate)
      deliver(.opened(name: opened.name, sampleRate: opened.sampleRate, period: opened.period))
      collect()
    }
  }

  func start() {
    guard let session, isOpened, !isStarted, !isClosing else { return }
    isStarted = true
    run(session) { core, session in
      if session.start() {
        session.connectAtStart()
        // Apart from the rest and later, see there.
        session.worker.run(after: 0.2) { [weak session] in session?.publishMetadata() }
      } else if !session.isLost {
        core.events.run { core.refused(session) }
      }
    }
  }

  private func refused(_ session: JACKSession) {
    guard self.session === session else { return }
    isStarted = false
    deliver(.failed(.refused("the JACK server did not activate the client \(session.name)")))
  }

  func close(_ completion: @escaping @Sendable (Bool) -> Void) {
    guard let session else { return completion(true) }
    completions.append(completion)
    if isClosing { return }
    isClosing = true
    session.notices.isClosing.store(true, ordering: .relaxed)
    run(session) { core, session in
      session.close()
      core.events.run { core.closed(session, isClean: true) }
    }
    events.run(after: Self.closingLimit) { [weak self] in self?.closed(session, isClean: false) }
  }

  private func closed(_ session: JACKSession, isClean: Bool) {
    guard self.session === session else { return }
    var isRendering = false
    if !isClean {
      options.log("the JACK library hangs; its client is left behind")
      isRendering = !abandon(session)
      worker = nil
      holdsName = true  // or will, until the server has buried that client
    }
    let completions = completions
    forget()
    if !isRendering { record.clock.pointee.reset() }
    for completion in completions { completion(isClean) }
  }

  /// Gives a session up: nothing is rendered any more, and its worker closes the client if it ever comes back. False when
  /// the render function itself hangs.
  private func abandon(_ session: JACKSession) -> Bool {
    let isShut = session.flags.pointee.gate.shut(within: 100_000_000)
    session.notices.isClosing.store(true, ordering: .relaxed)
    session.isAbandoned.store(true, ordering: .releasing)
    JACKClients.shared.closed(session)
    session.worker.abandon()
    return isShut
  }

  private func forget() {
    session = nil
    rendering.withLock { $0.session = nil }
    onEvent = nil
    completions = []
    isOpened = false
    isStarted = false
    isClosing = false
    reported = Reported()
    record.inputLatency.store(0, ordering: .relaxed)
    record.outputLatency.store(0, ordering: .relaxed)
    isRealtime.store(false, ordering: .relaxed)
  }

  func setLatencies(_ latencies: LatencyMap) {
    self.latencies = latencies
    guard let session else { return }
    session.latencies.withLock { $0 = latencies }
    if isClosing || session.isPublishing.exchange(true, ordering: .acquiring) { return }
    run(session) { _, session in session.publishLatencies() }
  }

  func setPorts(_ configuration: HostConfiguration) {
    guard let session, !isClosing else { return }
    do throws(HostFailure) {
      try JACKSession.check(configuration)
    } catch {
      if case .refused(let reason) = error { options.log(reason) }
      return
    }
    run(session) { _, session in
      session.setPorts(configuration)
      session.worker.run(after: 0.2) { [weak session] in session?.publishMetadata() }
    }
  }

  func restore(_ wanted: [JACKConnection]) {
    connections.hasList.store(true, ordering: .relaxed)
    connections.memory.withLock { $0.replace(wanted) }
    guard let session, isStarted, !isClosing else { return }
    run(session) { _, session in session.restore(wanted) }
  }

  /// Tells the engine, unless it has asked for the end.
  func deliver(_ event: HostEvent) {
    if !isClosing { onEvent?(event) }
  }
}
