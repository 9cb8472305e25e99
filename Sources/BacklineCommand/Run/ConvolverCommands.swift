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

  private let engine: Engine
  private let media: MediaService
  private let roots: FileRoots
  /// Hears of responses that could not be given back to a unit that has been made anew.
  private let log: @Sendable (String) -> Void

  init(engine: Engine, media: MediaService, roots: FileRoots, log: @escaping @Sendable (String) -> Void) {
    self.engine = engine
    self.media = media
    self.roots = roots
    self.log = log
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
        note(nil, name, control)
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

  /// Notes the file of a node that is still the one that `control` belongs to.
  private func note(_ path: String?, _ name: String, _ control: ConvolverControl) {
    guard (try? self.control(name)) === control else { return }
    engine.here { try? $0.noteFile(path, of: name) }
  }

  private func state(_ name: String, _ control: ConvolverControl) -> [OSCArgument] {
    guard let frames = control.frameCount else { return [.string("empty"), .string(""), .double(0)] }
    let path = engine.here { try? $0.node(name).file } ?? ""
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
          note(resolved, name, control)
          completion(.success([.string(resolved), .double(Double(file.frameCount) / control.sampleRate)]))
        case .failure(let error): completion(.failure(error))
        }
      }
    }
  }

  /// Gives units that have been made anew what their nodes had: by a preset, an undo, a move.
  func follow(_ change: EngineEvent.GraphChange, _ name: String) {
    switch change {
    // Only that node is looked at, since edits may come by the thousand.
    case .added, .replaced, .moved: if let node = engine.here({ try? $0.node(name) }) { refresh(node) }
    case .preset: refresh()
    default: break
    }
  }

  /// What has been read already, while a graph that names it is taken over.
  var prepared = NodeFiles()

  /// Gives every convolver that has none the response of its node's file: at once where it has been read already. Also for
  /// units that have been made anew for another rate.
  func refresh() {
    for node in engine.here({ $0.nodes }) { refresh(node) }
  }

  private func refresh(_ node: Engine.NodeView) {
    guard let path = node.file, let control = node.control as? ConvolverControl, control.frameCount == nil
    else { return }
    if let response = prepared.responses[path], prepared.sampleRate == control.sampleRate {
      control.attach(response)
      return
    }
    media.load(path, into: control) { [log] result in
      if case .failure(let error) = result { log("convolver \(quoted(node.name)): \(error.message)") }
    }
  }
}
