import BacklineDSP
import BacklineEngine
import BacklineOSC
import BacklinePresets

/// `/preset/…`. Files are read and written on a thread of their own; the graph changes on the control queue.
final class PresetCommands: @unchecked Sendable {
  // Why unchecked: `current` is used on the control queue only, `cursor` on the thread of the files only.

  private let engine: Engine
  private let library: PresetLibrary
  private let convolvers: ConvolverCommands
  private let files: SerialThread
  /// The preset that was loaded or saved last, as it was named.
  private var current: String?
  /// Where `/preset/next` goes on: also a preset that could not be loaded, or nobody would get past it.
  private var cursor: String?

  init(engine: Engine, library: PresetLibrary, convolvers: ConvolverCommands) throws(EngineError) {
    self.engine = engine
    self.convolvers = convolvers
    self.library = library
    files = try SerialThread(name: "presets")
  }

  /// The rack begins with this preset.
  func begin(with name: String) {
    current = name
    files.run { self.cursor = name }
  }

  func register(_ router: CommandRouter) {
    router.register(prefix: "/preset/") { [self] request throws(EngineError) in try action(request) }
    router.addStatus { [self] in [("preset", .string(current ?? ""))] }
  }

  private func action(_ request: OSCRequest) throws(EngineError) -> CommandAction {
    switch request.address {
    case "/preset/load":
      try request.expect(1...1, "NAME or PATH")
      let name = try request.text(0, "the preset")
      return .alone { completion in self.load({ _ throws(EngineError) in name }, completion) }
    case "/preset/next", "/preset/previous":
      try request.expect(0...0, "nothing")
      let isNext = request.address == "/preset/next"
      return .alone { [self] completion in
        load(
          { [library] now throws(EngineError) in
            try isNext ? library.next(after: now).name : library.previous(before: now).name
          }, completion)
      }
    case "/preset/save":
      try request.expect(1...1, "NAME")
      let name = try request.text(0, "the name")
      return .alone { completion in self.save(name, completion) }
    case "/preset/list":
      try request.expect(0...0, "nothing")
      return .alone { [files, library, engine] completion in
        files.run {
          let names = library.entries().map { OSCArgument.string($0.name) }
          engine.executor.schedule(after: 0) { completion(.success(names)) }
        }
      }
    default:
      throw EngineError(
        .unknownAddress, "there is no address '\(request.address)': /preset/ has load, save, list, next and previous")
    }
  }

  /// The old graph sounds until the new one is there; a preset that is refused changes nothing.
  private func load(
    _ choose: @escaping @Sendable (_ now: String?) throws(EngineError) -> String,
    _ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void
  ) {
    let sampleRate = engine.here { $0.sampleRate }
    files.run { [self] in
      let result: Result<(String, GraphDescription, NodeFiles), EngineError>
      do throws(EngineError) {
        let name = try choose(cursor)
        cursor = name
        var graph = try library.load(name, catalog: engine.catalog).graph(catalog: engine.catalog)
        let files = try NodeFiles(of: &graph, sampleRate: sampleRate) { file throws(EngineError) in
          try library.existing(file)
        }
        result = .success((name, graph, files))
      } catch {
        result = .failure(error)
      }
      engine.executor.schedule(after: 0) { [self] in
        do throws(EngineError) {
          let (name, graph, files) = try result.get()
          convolvers.prepared = files
          defer { convolvers.prepared = NodeFiles() }
          try engine.hereThrowing { engine throws(EngineError) in try engine.perform(.load(graph)) }
          current = name
          completion(.success([.string(name)]))
        } catch {
          completion(.failure(error))
        }
      }
    }
  }

  private func save(
    _ name: String, _ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void
  ) {
    let graph = engine.here { $0.graph }
    files.run { [self] in
      let result: Result<[OSCArgument], EngineError>
      do throws(EngineError) {
        let preset = Preset(name: name, graph: graph, catalog: engine.catalog)
        let entry = try library.save(preset, as: name, catalog: engine.catalog)
        cursor = entry.name
        result = .success([.string(entry.name), .string(entry.path)])
      } catch {
        result = .failure(error)
      }
      engine.executor.schedule(after: 0) { [self] in
        if case .success(let values) = result, case .string(let saved)? = values.first { current = saved }
        completion(result)
      }
    }
  }
}
