import BacklineDSP
import BacklineEngine
import BacklineJACK
import BacklineMedia
import BacklineOSC
import BacklinePresets
import CBackline

/// What a rack begins with.
struct FirstPreset: Sendable {
  let name: String
  let graph: GraphDescription
  let files: NodeFiles
}

/// A running rack: an engine with its host, its OSC server, its presets and its players. Control queue, but for `init`.
final class Rack: @unchecked Sendable {
  // Why unchecked: what changes is confined to the control queue.

  let options: RackOptions
  let engine: Engine
  let server: OSCServer
  let router: CommandRouter
  let presets: PresetCommands
  let players: PlayerCommands
  let convolvers: ConvolverCommands
  let recording: RecordCommands
  private let media: MediaService
  private let announcer: RackAnnouncer
  private var capture: CaptureWriter?
  private var hasAnnounced = false
  private var triesJACK: Bool
  private var health = RackHealth()
  /// Ends the program with an exit code.
  private let end: @Sendable (ExitCode, String?) -> Void

  /// Puts everything together; nothing sounds and nobody is answered before `start()`.
  init(
    _ options: RackOptions, announcer: RackAnnouncer, end: @escaping @Sendable (ExitCode, String?) -> Void
  ) throws(CommandError) {
    self.options = options
    self.announcer = announcer
    self.end = end
    do throws(EngineError) {
      engine = try Engine()
    } catch {
      throw CommandError(.unavailable, error.message)
    }
    triesJACK = options.host != .timer
    do {
      server = try OSCServer(
        executor: engine.executor, bind: options.oscBind, port: options.oscPort, log: { announcer.log($0) })
    } catch {
      throw CommandError(.unavailable, "OSC: \(error)")
    }
    do throws(EngineError) {
      media = try MediaService(onFailure: { control, failure in announcer.log("player: \(failure.message)") })
      router = CommandRouter(engine: engine, server: server, version: VersionCommand.version)
      players = PlayerCommands(engine: engine, media: media, roots: options.roots)
      convolvers = ConvolverCommands(
        engine: engine, media: media, roots: options.roots, log: { announcer.log($0) })
      presets = try PresetCommands(
        engine: engine, library: PresetLibrary(roots: options.roots), convolvers: convolvers)
      recording = try RecordCommands(
        engine: engine, roots: options.roots, settings: options.recording, router: router,
        log: { announcer.log($0) })
    } catch {
      throw CommandError(.unavailable, error.message)
    }
  }

  /// Loads the first preset, listens, and opens the host. Control queue.
  func start(_ preset: FirstPreset?) throws(CommandError) {
    if let preset {
      do throws(EngineError) {
        try engine.hereThrowing { engine throws(EngineError) in try engine.perform(.load(preset.graph)) }
        convolvers.prepared = preset.files
        convolvers.refresh()
        convolvers.prepared = NodeFiles()
        players.loadNamed()
        presets.begin(with: preset.name)
      } catch {
        throw CommandError(.badData, error.message)
      }
    }
    if let folder = options.capture {
      let inputs = engine.here { engine in engine.graph.ports.inputs.reduce(0) { $0 + $1.count } }
      let capture = try CaptureWriter(folder: folder, channelCount: inputs) { [announcer] in announcer.log($0) }
      engine.here { $0.record(capture) }
      self.capture = capture
    }
    presets.register(router)
    players.register(router)
    convolvers.register(router)
    recording.register(router)
    recording.listUnfinished { announcer.log($0) }
    router.onQuit = { [end] in end(.done, nil) }
    engine.here { engine in engine.observe { [weak self] event in self?.hear(event) } }
    router.start()
    engine.executor.schedule(after: 1, repeating: 1) { [weak self] in self?.reportHealth() }
    do throws(EngineError) {
      let host: any AudioHost = triesJACK ? try makeJACKHost() : try TimerHost()
      let tapped: any AudioHost = capture?.tapped(host) ?? host
      engine.here { engine in
        engine.setThreads(options.threads)
        engine.start(tapped, name: options.name)
      }
    } catch {
      throw CommandError(.unavailable, error.message)
    }
  }

  private func makeJACKHost() throws(EngineError) -> JACKHost {
    try JACKHost(
      JACKOptions(
        server: options.server, exactName: options.exactName, connectPolicy: options.connects ? .auto : .none,
        log: { [announcer] line in announcer.log("jack: \(line)") }))
  }

  // MARK: States

  private func hear(_ event: EngineEvent) {
    switch event {
    case .stateChanged(let state): follow(state)
    case .configurationChanged(let cause, let old, let new, _):
      announcer.log("\(cause) \(old) -> \(new)")
      if cause == "sampleRate" {
        players.followRate()
        convolvers.refresh()
      }
      recording.followConfiguration(cause, from: old, to: new)
    case .graphChanged(let change, let name):
      let isReplaying = engine.here { $0.isReplaying }
      players.follow(change, name, isReplaying: isReplaying)
      convolvers.follow(change, name)
      recording.follow(change, name)
    case .retrying(let attempt, let wait):
      announcer.log("no audio (\(engine.here { $0.state.cause })): attempt \(attempt) in \(ValueText.number(wait)) s")
    case .nonFinite(let node): announcer.logLimited("node '\(node)' gave samples that are not finite: silenced, reset")
    default: break
    }
  }

  private func follow(_ state: EngineState) {
    switch state {
    case .unavailable(let reason):
      if options.exactName && !hasAnnounced && engine.here({ $0.isRefused }) {
        end(.unavailable, reason)
        return
      }
      if options.host == .auto && triesJACK && !hasAnnounced {
        triesJACK = false
        changeToTimer(reason)
        return
      }
      announce(state)
    case .running:
      announce(state)
    default:
      if hasAnnounced { announcer.state(state) }
    }
  }

  /// The first state of note makes the ready line, each later one a line of its own.
  private func announce(_ state: EngineState) {
    if hasAnnounced {
      announcer.state(state)
      return
    }
    hasAnnounced = true
    engine.here { engine in
      let isUp = state == .running
      announcer.ready(
        name: engine.hostName, host: engine.host?.kind ?? "none", state: state,
        rate: isUp ? Int(engine.sampleRate) : 0, period: isUp ? engine.period : 0, port: Int(server.port))
    }
    if engine.here({ $0.host?.isRealtime == false }), state == .running {
      announcer.log("no real-time rights: rendering goes on without them; 'backline doctor' says what to do")
    }
  }

  private func changeToTimer(_ reason: String) {
    announcer.log("no JACK server (\(reason)): running on the timer, without a sound card")
    do throws(EngineError) {
      let timer = try TimerHost()
      let tapped: any AudioHost = capture?.tapped(timer) ?? timer
      engine.here { engine in engine.change(to: tapped, name: options.name) }
    } catch {
      end(.unavailable, error.message)
    }
  }

  private func reportHealth() {
    let line = engine.here { engine in health.look(at: engine, server) }
    if let line { announcer.log(line) }
  }

  // MARK: The end

  /// Waits until a capture is on the disk. Not on the control queue.
  func finishCapture() { capture?.finish() }

  /// Waits until a recording that ran is on the disk. Not on the control queue.
  func finishRecording() { recording.waitForEnd() }

  /// Fades out, closes everything, and calls `completion`; false when the host hangs.
  func stop(_ completion: @escaping @Sendable (Bool) -> Void) {
    engine.here { engine in
      engine.stop { [self] isClean in
        recording.end()
        server.shutdown()
        completion(isClean)
      }
    }
  }
}
