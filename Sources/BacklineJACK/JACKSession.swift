import BacklineEngine
import BacklineRealtime
import CBackline
import CJACK
import Glibc
import Synchronization

/// One client of the server, from opening to closing. Its methods run on the host's worker thread, where they may block.
final class JACKSession: @unchecked Sendable {
  let configuration: HostConfiguration
  let options: JACKOptions
  let record: HostRecord
  let notices: JACKNotices
  let connections: ConnectionKeeper
  let latencies: Mutex<LatencyMap>
  /// True while a publication of latencies waits on the worker.
  let isPublishing = Atomic<Bool>(false)
  /// True once the host has given this session up: whoever then gets out of a hanging call closes it.
  let isAbandoned = Atomic<Bool>(false)
  let isRealtime = Atomic<Bool>(false)
  let flags: UnsafeMutablePointer<JACKProcessFlags>
  let worker: SerialThread
  private let events: SerialThread  // keeps the descriptor that callbacks wake
  private let render: HostRender
  private let state: UnsafeMutableRawPointer

  // The worker's; notification callbacks read them between opening and closing.
  private(set) var client: OpaquePointer?
  private(set) var name = ""
  var portNames = JACKPortNames()
  /// The ports that the last look found with latencies of the past.
  var lastStale: [String: LatencyRange] = [:]
  private(set) var isActive = false
  /// The handles: the worker writes them, notification callbacks read them.
  let ports = Mutex(JACKPorts())
  /// Port tables that the process callback may still have in hand.
  private var oldTables: [UnsafeMutablePointer<JACKPortTable>] = []
  private var process: UnsafeMutablePointer<JACKProcess>?
  /// The threads that help the process callback, and what they were started for.
  var helpers: [jack_native_thread_t] = []
  var workers: WorkerThreads?

  init(
    _ configuration: HostConfiguration, options: JACKOptions, record: HostRecord, connections: ConnectionKeeper,
    latencies: LatencyMap, worker: SerialThread, events: SerialThread, render: @escaping HostRender,
    state: UnsafeMutableRawPointer
  ) {
    self.configuration = configuration
    self.options = options
    self.record = record
    self.connections = connections
    self.latencies = Mutex(latencies)
    self.worker = worker
    self.events = events
    self.render = render
    self.state = state
    notices = JACKNotices(wakeDescriptor: events.wakeDescriptor)
    flags = .allocate(capacity: 1)
    flags.initialize(to: JACKProcessFlags())
  }

  deinit {
    if let table = flags.pointee.ports.load(ordering: .relaxed) { oldTables.append(table) }
    for table in oldTables { free(table) }
    flags.deinitialize(count: 1)
    flags.deallocate()
    process?.deinitialize(count: 1)
    process?.deallocate()
  }

  /// True when the server has gone.
  var isLost: Bool { notices.isShutDown.load(ordering: .acquiring) }

  // MARK: Opening and closing

  /// What the server has given.
  struct Opened: Sendable {
    let name: String
    let sampleRate: Int
    let period: Int
  }

  /// Becomes a client with its ports and callbacks. With `reclaimsName`, waits a second for the name that an earlier
  /// session had, since a server may take a while to bury a client.
  func open(reclaimsName: Bool) -> Result<Opened, HostFailure> {
    JACKClients.shared.waitForLeaving(before: self)
    do {
      let client = try openClient(reclaimsName: reclaimsName)
      self.client = client
      JACKClients.shared.opened(self)
      // The callbacks' argument; given back when the client has been closed.
      _ = Unmanaged.passRetained(self)
      name = String(cString: jack_get_client_name(client))
      do {
        return .success(try setUp(client))
      } catch {
        close()
        return .failure(error)
      }
    } catch {
      return .failure(error)
    }
  }

  private func setUp(_ client: OpaquePointer) throws(HostFailure) -> Opened {
    portNames = JACKPortNames(inputs: configuration.inputPorts, outputs: configuration.outputPorts)
    publish(
      JACKPorts(
        inputs: try registerPorts(client, portNames.inputs, JackPortIsInput),
        outputs: try registerPorts(client, portNames.outputs, JackPortIsOutput)))
    let sampleRate = Int(jack_get_sample_rate(client))
    flags.pointee.sampleRate.store(sampleRate, ordering: .relaxed)
    let process = UnsafeMutablePointer<JACKProcess>.allocate(capacity: 1)
    process.initialize(
      to: JACKProcess(
        client: client, clockOffset: clockOffset(), flags: flags, record: record,
        wakeDescriptor: events.wakeDescriptor, render: render, state: state))
    self.process = process
    guard setCallbacks(client, process: UnsafeMutableRawPointer(process)) else {
      throw .refused("the JACK server refused a callback")
    }
    return Opened(name: name, sampleRate: sampleRate, period: Int(jack_get_buffer_size(client)))
  }

  /// CLOCK_MONOTONIC minus JACK's clock in nanoseconds; 0 where they agree, as they do unless the server was told otherwise.
  private func clockOffset() -> Int64 {
    let before = backline_now()
    let jack = Int64(truncatingIfNeeded: jack_get_time()) &* 1_000
    let offset = (before + backline_now()) / 2 - jack
    return offset.magnitude < 1_000_000 ? 0 : offset
  }

  /// Has the process callback use other ports from its coming cycle on.
  func publish(_ ports: JACKPorts) {
    self.ports.withLock { $0 = ports }
    let table = UnsafeMutablePointer<JACKPortTable>.allocate(capacity: 1)
    table.initialize(to: JACKPortTable(ports))
    if let old = flags.pointee.ports.exchange(table, ordering: .acquiringAndReleasing) { oldTables.append(old) }
  }

  /// Waits until no cycle uses an earlier port table any more, half a second at most, and frees those then.
  func waitForPorts() {
    let table = flags.pointee.ports.load(ordering: .relaxed)
    let limit = backline_now() + 500_000_000
    while isActive && flags.pointee.usedPorts.load(ordering: .acquiring) != table {
      if isLost || backline_now() > limit { return }
      usleep(1_000)
    }
    for table in oldTables { free(table) }
    oldTables = []
  }

  private func free(_ table: UnsafeMutablePointer<JACKPortTable>) {
    table.deinitialize(count: 1)
    table.deallocate()
  }

  /// Begins to render; false when the server refuses.
  func start() -> Bool {
    guard let client, !isActive else { return isActive }
    guard jack_activate(client) == 0 else { return false }
    isActive = true
    return true
  }

  /// Finds out how the render thread is scheduled.
  func readScheduling() {
    guard let client, isActive, !isLost else { return }
    var policy: Int32 = 0
    var parameters = sched_param()
    let thread = jack_client_thread_id(client)
    let isKnown = thread != 0 && pthread_getschedparam(thread, &policy, &parameters) == 0
    isRealtime.store(isKnown && (policy == SCHED_FIFO || policy == SCHED_RR), ordering: .relaxed)
  }

  /// Leaves the server. No callback comes afterwards.
  func close() {
    notices.isClosing.store(true, ordering: .relaxed)
    guard let client else { return }
    if isLost {
      notices.waitForThread(nanoseconds: 1_000_000_000)
    } else if isActive {
      jack_deactivate(client)
    }
    dismissWorkers(client)
    jack_client_close(client)
    JACKClients.shared.closed(self)
    self.client = nil
    isActive = false
    Unmanaged.passUnretained(self).release()
  }
}
