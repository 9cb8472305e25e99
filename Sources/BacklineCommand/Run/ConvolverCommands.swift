import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOSC

/// `/convolver/NAME/…`: the impulse responses of convolvers. Control queue.
///
/// - `load PATH` answers the path and the response's length in seconds; where that fails, the convolver keeps what it had.
/// - `unload` lets the input pass. `state` answers `empty` or `loaded`, the path, and the length in seconds.
final class ConvolverCommands: @unchecked Sendable {
  // Why unchecked: everything is confined to the control queue.

  /// What a convolver was given, to give it again when its unit is made anew.
  private struct Session {
    var path: String
    var control: ConvolverControl
  }

  private let engine: Engine
  private let media: MediaService
  private let roots: FileRoots
  private var sessions: [String: Session] = [:]

  init(engine: Engine, media: MediaService, roots: FileRoots) {
    self.engine = engine
    self.media = media
    self.roots = roots
  }

  func register(_ router: CommandRouter) {
    router.register(prefix: "/convolver/") { [self] request throws(EngineError) in try action(request) }
  }

  private func control(_ name: String) throws(EngineError) -> ConvolverControl {
    let node = try engine.hereThrowing { engine throws(EngineError) in try engine.node(name) }
    guard let control = node.control as? ConvolverControl else {
      throw EngineError(.unknownNode, "'\(name)' is a \(node.description.kind), not a convolver")
    }
    return control
  }

  private func action(_ request: OSCRequest) throws(EngineError) -> CommandAction {
    let parts = request.address.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4 else {
      throw EngineError(.unknownAddress, "'\(request.address)' is no /convolver/NAME/COMMAND")
    }
    let name = parts[2]
    let control = try control(name)
    switch parts[3] {
    case "load":
      try request.expect(1...1, "PATH")
      let path = try request.text(0, "the path")
      return .alone { [self] completion in
        // Not taken down: a file may be another one by the time of a replay.
        engine.here { $0.spoilCapture() }
        load(name, path, control, completion)
      }
    case "unload":
      try request.expect(0...0, "nothing")
      return .alone { [self] completion in
        engine.here { $0.spoilCapture() }
        sessions[name] = nil
        media.unload(control)
        completion(.success([]))
      }
    case "state":
      try request.expect(0...0, "nothing")
      return .answer { [self] () throws(EngineError) in state(name, control) }
    default:
      throw EngineError(.unknownAddress, "'\(request.address)': a convolver knows load, unload and state")
    }
  }

  private func state(_ name: String, _ control: ConvolverControl) -> [OSCArgument] {
    guard let frames = control.frameCount else { return [.string("empty"), .string(""), .double(0)] }
    let path = sessions[name].flatMap { $0.control === control ? $0.path : nil } ?? ""
    return [.string("loaded"), .string(path), .double(Double(frames) / control.sampleRate)]
  }

  private func load(
    _ name: String, _ path: String, _ control: ConvolverControl,
    _ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void
  ) {
    let resolved: String
    do throws(EngineError) {
      resolved = try roots.existing(path)
    } catch {
      completion(.failure(error))
      return
    }
    media.load(resolved, into: control) { [self] result in
      engine.executor.schedule(after: 0) { [self] in
        switch result {
        case .success(let file):
          sessions[name] = Session(path: resolved, control: control)
          completion(.success([.string(resolved), .double(Double(file.frameCount) / control.sampleRate)]))
        case .failure(let error): completion(.failure(error))
        }
      }
    }
  }

  /// Keeps responses under the names that their convolvers have, and for those that an undo brings back.
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
        for node in engine.here({ $0.nodes }) { sessions[node.name] = nil }
      }
    default: break
    }
  }

  /// The units have been made anew for another rate.
  func followRate() {
    for name in sessions.keys { restore(name) }
  }

  /// Gives a unit that has been made anew the response of the one before it.
  private func restore(_ name: String) {
    guard let session = sessions[name], let control = try? control(name), control !== session.control else { return }
    sessions[name]?.control = control
    media.load(session.path, into: control) { _ in }
  }
}
