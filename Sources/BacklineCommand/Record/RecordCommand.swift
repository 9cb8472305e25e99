import BacklineEngine
import BacklineJACK
import BacklineMedia
import Glibc
import Synchronization

/// `backline record OUTPUT`: ports of a JACK server into files, without a rack.
enum RecordCommand {
  static func command() -> ProgramCommand {
    ProgramCommand(.record) { arguments, context throws(CommandError) in
      let signals = SignalWait()
      let session = try RecordSession(arguments, context) { signals.interrupt() }
      try session.start()
      signals.wait()
      let report = session.stop()
      if let reason = session.loss { try context.errors.write("backline: error: \(SafeText.line(reason))\n") }
      if arguments.contains(.json) {
        try context.write(json: RecordText.json(report))
      } else {
        try context.write(RecordText.summary(report) + "\n")
      }
      return session.loss == nil ? RecordText.exitCode(report) : .inputOutput
    }
  }
}

/// One run of the command: an engine with inputs and nothing else, and a recorder on it.
private final class RecordSession: @unchecked Sendable {
  // Why unchecked: made and ended on the main thread, the rest is on the control queue.

  private let engine: Engine
  private let host: JACKHost
  private let recorder: Recorder
  private let path: String
  private let name: String
  private let ports: [String]
  private let duration: Double?
  private let interrupt: @Sendable () -> Void
  /// Why the server was lost.
  private let lost = Mutex<String?>(nil)

  /// Why the server went while it was recorded from; `nil` where it did not.
  var loss: String? { lost.withLock { $0 } }

  init(
    _ arguments: ParsedArguments, _ context: CommandContext, interrupt: @escaping @Sendable () -> Void
  ) throws(CommandError) {
    path = arguments[.recording] ?? ""
    name = arguments[.name] ?? "backline-record"
    ports = (arguments[.ports] ?? "system:capture_1,system:capture_2").split(separator: ",").map(String.init)
    if ports.isEmpty { throw .usage("--ports: name one port at least") }
    if ports.count > 64 { throw .usage("--ports: \(ports.count) ports, at most 64 can be recorded") }
    duration = try RecordOptions.seconds(arguments[.duration], of: .duration)
    self.interrupt = interrupt
    var settings = RecordOptions.settings(arguments)
    if let name = arguments[.recordingSampleFormat] { settings.sampleFormat = SampleFormat(rawValue: name) }
    settings.container = arguments[.recordingFormat].flatMap { SoundContainer(rawValue: $0) }
    let connections = try RecordPorts.connections(to: ports, server: arguments[.server]) { "in_\($0 + 1)" }
    let log: @Sendable (String) -> Void = { try? context.errors.write("backline: \(SafeText.line($0))\n") }
    do throws(EngineError) {
      host = try JACKHost(
        JACKOptions(
          server: arguments[.server], connectPolicy: .none, connections: connections, log: { log("jack: \($0)") }))
      let engine = try Engine()
      self.engine = engine
      recorder = try engine.wait { _ throws(EngineError) in
        try Recorder(engine: engine, settings: settings) { event in
          if let line = RecordText.line(event), !event.isEnd { log(line) }
          if event.isEnd { interrupt() }
        }
      }
    } catch {
      throw CommandError(.unavailable, error.message)
    }
  }

  /// Opens the host and begins.
  func start() throws(CommandError) {
    let answered = Semaphore()
    let box = OutcomeBox()
    engine.executor.schedule(after: 0) { [self] in
      do throws(EngineError) {
        try open { result in
          box.result.withLock { $0 = result }
          answered.signal()
        }
      } catch {
        box.result.withLock { $0 = .failure(error) }
        answered.signal()
      }
    }
    answered.wait()
    if case .failure(let error) = box.result.withLock({ $0 }) {
      let exitCode: ExitCode =
        switch error.code {
        case .formatMismatch: .wrongUsage
        case .unavailable: .unavailable
        default: .cannotCreate
        }
      throw CommandError(exitCode, error.message)
    }
  }

  private func open(_ completion: @escaping @Sendable (Result<Void, EngineError>) -> Void) throws(EngineError) {
    let layout = PortLayout(inputs: ports.indices.map { ["in_\($0 + 1)"] }, outputs: [])
    try engine.hereThrowing { engine throws(EngineError) in
      try engine.perform(.load(GraphDescription(ports: layout, nodes: [], connections: [])))
    }
    let sources = ports.indices.map { Endpoint("input", bus: $0) }
    for (source, port) in zip(sources, ports) { try recorder.label(source, port) }
    engine.here { engine in
      engine.observe { [weak self] event in
        guard let self else { return }
        if case .configurationChanged(let cause, let old, let new, _) = event {
          recorder.followConfiguration(cause, from: old, to: new)
        }
        if case .stateChanged(.unavailable(let reason)) = event, !recorder.isRecording {
          completion(.failure(EngineError(.unavailable, reason)))
        }
        if case .stateChanged(.interrupted(let reason)) = event, recorder.isRecording {
          // What there is gets its name; whoever records unattended does not wait for a server that may never return.
          lost.withLock { $0 = reason }
          interrupt()
        }
        // Started when the rate is known, so that the files have it.
        if case .stateChanged(.running) = event, !recorder.isRecording { begin(sources, completion) }
      }
      engine.start(host, name: name)
    }
  }

  private func begin(_ sources: [Endpoint], _ completion: @escaping @Sendable (Result<Void, EngineError>) -> Void) {
    let rate = engine.here { $0.sampleRate }
    recorder.start(path: path, sources: sources, frameLimit: duration.map { Int64(($0 * rate).rounded()) }, completion)
  }

  /// Ends the recording where it has not ended by itself, and the host.
  func stop() -> RecordingReport {
    let done = Semaphore()
    engine.executor.schedule(after: 0) { [self] in recorder.stop { _ in done.signal() } }
    // What is converted at the end takes a while.
    done.wait(seconds: 3_600)
    let closed = Semaphore()
    engine.executor.schedule(after: 0) { [engine] in engine.here { $0.stop { _ in closed.signal() } } }
    closed.wait(seconds: 2)
    return recorder.report
  }
}

/// An answer on its way to the main thread.
private final class OutcomeBox: Sendable {
  let result = Mutex<Result<Void, EngineError>>(.success(()))
}

extension RecordingEvent {
  fileprivate var isEnd: Bool {
    if case .ended = self { true } else { false }
  }
}
