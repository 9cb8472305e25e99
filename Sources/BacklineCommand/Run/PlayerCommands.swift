import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOSC

/// `/player/NAME/…`: the transport of players. Control queue.
final class PlayerCommands: @unchecked Sendable {
  // Why unchecked: everything is confined to the control queue.

  /// What a player was told, to tell it again when its unit is made anew.
  private struct Session {
    var path: String
    var control: PlayerControl
    var loop: ClosedRange<Double>?
    var failure: String?
    /// Which load it comes from.
    var load = 0
  }

  private let engine: Engine
  private let media: MediaService
  private let roots: FileRoots
  private var sessions: [String: Session] = [:]
  private var loads = 0

  init(engine: Engine, media: MediaService, roots: FileRoots) {
    self.engine = engine
    self.media = media
    self.roots = roots
  }

  func register(_ router: CommandRouter) {
    router.register(prefix: "/player/") { [self] request throws(EngineError) in try action(request) }
  }

  private func control(_ name: String) throws(EngineError) -> PlayerControl {
    let node = try engine.hereThrowing { engine throws(EngineError) in try engine.node(name) }
    guard let control = node.control as? PlayerControl else {
      throw EngineError(.unknownNode, "'\(name)' is a \(node.description.kind), not a player")
    }
    return control
  }

  // MARK: Commands

  private func action(_ request: OSCRequest) throws(EngineError) -> CommandAction {
    let parts = request.address.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4 else {
      throw EngineError(.unknownAddress, "'\(request.address)' is no /player/NAME/COMMAND")
    }
    let name = parts[2]
    let control = try control(name)
    switch parts[3] {
    case "load":
      try request.expect(1...1, "PATH")
      let path = try request.text(0, "the path")
      return .alone { [self] completion in load(name, path, control, completion) }
    case "play":
      try request.expect(0...1, "a frame, or nothing")
      let frame = request.arguments.isEmpty ? nil : Int64(try request.integer(0, "the frame"))
      if let frame, frame < 0 {
        throw EngineError(.outOfRange, "\(request.address): the frame has to be 0 or more, not \(frame)")
      }
      return act(request, control, frame.map { [.whole($0)] } ?? []) { () throws(PlayerError) in
        try control.play(at: frame)
      }
    case "pause":
      try request.expect(0...0, "nothing")
      return act(request, control) { () throws(PlayerError) in try control.pause() }
    case "stop":
      try request.expect(0...0, "nothing")
      return act(request, control) { () throws(PlayerError) in try control.stop() }
    case "seek":
      try request.expect(1...1, "seconds")
      let seconds = try time(request, 0, "the position")
      return act(request, control, [.real(seconds)]) { () throws(PlayerError) in
        try control.seek(to: control.frame(atSeconds: seconds))
      }
    case "loop":
      return try loop(name, control, request)
    case "position":
      try request.expect(0...0, "nothing")
      return .answer { () throws(EngineError) in
        [.double(Double(control.state.position) / control.sampleRate)]
      }
    case "state":
      try request.expect(0...0, "nothing")
      return .answer { [self] () throws(EngineError) in state(name, control) }
    default:
      throw EngineError(
        .unknownAddress,
        "'\(request.address)': a player knows load, play, pause, stop, seek, loop, position and state")
    }
  }

  private func time(_ request: OSCRequest, _ index: Int, _ what: String) throws(EngineError) -> Double {
    let seconds = try request.real(index, what)
    if seconds < 0 || seconds > 1e6 {
      throw EngineError(.outOfRange, "\(request.address): \(what) has to be 0 to 1000000 seconds, not \(seconds)")
    }
    return seconds
  }

  /// What a transport command does; `arguments` are its own, for whoever takes the performance down.
  private func act(
    _ request: OSCRequest, _ control: PlayerControl, _ arguments: [UnitArgument] = [],
    _ body: @escaping () throws(PlayerError) -> Void
  ) -> CommandAction {
    let address = request.address
    return .alone { [self] completion in
      observe(control)
      let before = control.lastCommand
      do throws(PlayerError) {
        try body()
        // What needed no command changes nothing that is heard.
        let number = control.lastCommand
        if number != before { capture(address, arguments, control, number) }
        completion(.success([]))
      } catch {
        completion(.failure(EngineError(error)))
      }
    }
  }

  private func loop(
    _ name: String, _ control: PlayerControl, _ request: OSCRequest
  ) throws(EngineError) -> CommandAction {
    try request.expect(2...2, "FROM TO in seconds; 0 0 ends the loop")
    let from = try time(request, 0, "FROM"), to = try time(request, 1, "TO")
    let arguments: [UnitArgument] = [.real(from), .real(to)]
    if from == 0 && to == 0 {
      return act(request, control, arguments) { [self] () throws(PlayerError) in
        try control.setLoop(nil)
        sessions[name]?.loop = nil
      }
    }
    guard to > from else {
      throw EngineError(.outOfRange, "\(request.address): TO (\(to)) has to come after FROM (\(from))")
    }
    return act(request, control, arguments) { [self] () throws(PlayerError) in
      try control.setLoop(control.frame(atSeconds: from)..<control.frame(atSeconds: to))
      sessions[name]?.loop = from...to
    }
  }

  private func state(_ name: String, _ control: PlayerControl) -> [OSCArgument] {
    let state = control.state
    // What was told to a unit of the same name that is gone does not count.
    let session = sessions[name].flatMap { $0.control === control ? $0 : nil }
    let failure = session?.failure ?? control.failure.map { "\($0)" }
    let word =
      failure != nil ? "failed" : control.source == nil ? "empty" : state.isPlaying ? "playing" : "stopped"
    return [
      .string(word), .string(session?.path ?? ""), .double(Double(state.position) / control.sampleRate),
      .int32(Int32(clamping: state.underruns)), .string(failure ?? ""),
    ]
  }

  // MARK: Files

  private func load(
    _ name: String, _ path: String, _ control: PlayerControl,
    _ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void
  ) {
    observe(control)
    let resolved: String
    do throws(EngineError) {
      resolved = try roots.existing(path)
    } catch {
      if loaded(name, control) == nil {
        engine.here { $0.spoilCapture() }
        sessions[name] = Session(path: path, control: control, failure: error.message)
      }
      completion(.failure(error))
      return
    }
    open(name, resolved, control, completion)
  }

  /// What a player plays from, which it keeps where it is given a file that cannot be.
  private func loaded(_ name: String, _ control: PlayerControl) -> Session? {
    guard control.source != nil, let session = sessions[name], session.control === control, session.failure == nil
    else { return nil }
    return session
  }

  private func open(
    _ name: String, _ resolved: String, _ control: PlayerControl,
    _ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void
  ) {
    let before = loaded(name, control)
    engine.here { try? $0.noteFile(resolved, of: name) }
    loads += 1
    let thisLoad = loads
    sessions[name] = Session(path: resolved, control: control, load: thisLoad)
    media.load(resolved, into: control, sampleRate: control.sampleRate) { [self] result in
      engine.executor.schedule(after: 0) { [self] in
        switch result {
        case .success(let file):
          capture("/player/\(name)/load", [.text(resolved)], control, control.lastFile)
          completion(
            .success([
              .string(resolved), .double(file.duration), .int32(Int32(file.format.channelCount)),
              .int32(Int32(file.format.sampleRate)),
            ]))
        case .failure(let error):
          fail(thisLoad, error, before)
          completion(.failure(error))
        }
      }
    }
  }

  /// Loads into players what their nodes name: after a preset has been taken over.
  func loadNamed() {
    for node in engine.here({ $0.nodes }) {
      guard let path = node.file, let control = node.control as? PlayerControl else { continue }
      // When the files of a preset are there is the disk's affair.
      engine.here { $0.spoilCapture() }
      open(node.name, path, control) { _ in }
    }
  }

  /// A file that could not be loaded leaves its player silent, unless another has been asked for meanwhile.
  private func fail(_ load: Int, _ error: EngineError, _ before: Session?) {
    guard let (name, session) = sessions.first(where: { $0.value.load == load }) else { return }
    if let before {
      sessions[name] = before
      engine.here { try? $0.noteFile(before.path, of: name) }
      return
    }
    sessions[name]?.failure = error.message
    engine.here { $0.spoilCapture() }
    media.unload(session.control)
  }

  // MARK: Taking down

  /// Has a player remember when it takes its commands, where a performance is taken down.
  private func observe(_ control: PlayerControl) {
    guard engine.here({ $0.isCapturing }) else { return engine.here { $0.spoilCapture() } }
    if control.observe() { engine.here { $0.captureWitness { !control.dependsOnDisk } } }
  }

  private func capture(_ address: String, _ arguments: [UnitArgument], _ control: PlayerControl, _ number: Int) {
    engine.here { $0.capture(address, arguments) { control.takenFrame(number) } }
  }

  /// Keeps what players were told under the names that they have, and for those that an undo brings back.
  func follow(_ change: EngineEvent.GraphChange, _ name: String, isReplaying: Bool) {
    switch change {
    case .renamed:
      guard let space = name.firstIndex(of: " ") else { return }
      let new = String(name[name.index(after: space)...])
      sessions[new] = sessions.removeValue(forKey: String(name[..<space]))
    case .added, .replaced:
      if isReplaying { restore(name) } else { sessions[name] = nil }
    case .preset:
      if isReplaying {
        for name in sessions.keys { restore(name) }
      } else {
        // Kept until something of the same name comes: an undo brings the old players back.
        for node in engine.here({ $0.nodes }) { sessions[node.name] = nil }
        loadNamed()
      }
    default: break
    }
  }

  /// The units have been made anew for another rate: what played goes on where it was.
  func followRate() {
    for name in sessions.keys { restore(name) }
  }

  /// Gives a unit that has been made anew the file, the place and the loop of the one before it.
  private func restore(_ name: String) {
    guard let session = sessions[name], let control = try? control(name), control !== session.control else { return }
    let old = session.control.state
    let position = Double(old.position) / session.control.sampleRate
    sessions[name]?.control = control
    if session.failure != nil { return }
    // Not taken down: where it goes on depends on when its file is open.
    engine.here { $0.spoilCapture() }
    media.load(session.path, into: control, sampleRate: control.sampleRate) { [self] result in
      engine.executor.schedule(after: 0) { [self] in
        do throws(EngineError) {
          _ = try result.get()
          if let loop = session.loop {
            try player {
              () throws(PlayerError) in
              try control.setLoop(
                control.frame(atSeconds: loop.lowerBound)..<control.frame(atSeconds: loop.upperBound))
            }
          }
          try player { () throws(PlayerError) in try control.seek(to: control.frame(atSeconds: position)) }
          if old.isPlaying { try player { () throws(PlayerError) in try control.play() } }
        } catch {
          if sessions[name]?.control === control { sessions[name]?.failure = error.message }
        }
      }
    }
  }

  private func player(_ body: () throws(PlayerError) -> Void) throws(EngineError) {
    do {
      try body()
    } catch {
      throw EngineError(error)
    }
  }
}
