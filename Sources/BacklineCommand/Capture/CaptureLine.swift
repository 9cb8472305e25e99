import BacklineDSP
import BacklineEngine
import BacklinePresets

/// Changes of a performance as lines of a capture's events: OSC commands, each with its frame and its place in the order of
/// control, lines of one number being one transaction.
enum CaptureLine {
  /// Addresses that only captures have: what a rack does by itself.
  static let publish = "/capture/publish"
  static let tidy = "/capture/tidy"
  static let fadeOut = "/capture/fadeOut"
  static let load = "/capture/load"
  static let connect = "/capture/connect"

  /// The lines of a change, without line breaks. `preset` writes a graph beside the events and returns its file's name.
  static func lines(
    _ change: RecordedChange, catalog: UnitCatalog, preset: (GraphDescription) -> String
  ) -> [String] {
    switch change.kind {
    case .commands(let commands, let names):
      return zip(commands, names).map { command, name in
        let (address, arguments) = words(command, parameter: name, catalog, preset)
        return line(change, address, arguments)
      }
    case .undo: return [line(change, "/graph/undo", [])]
    case .redo: return [line(change, "/graph/redo", [])]
    case .tidied(let found):
      let numbers = [Int(found.frame), found.settled.count] + found.settled + found.ghosts
      return [line(change, tidy, numbers.map { .integer(Int64($0)) })]
    case .published(let isAdopted): return [line(change, publish, [.bool(isAdopted)])]
    case .fadedOut: return [line(change, fadeOut, [])]
    case .unit(let address, let arguments):
      return [
        line(
          change, address,
          arguments.map { argument in
            switch argument {
            case .text(let text): .string(text)
            case .whole(let number): .integer(number)
            case .real(let number): .double(number)
            }
          })
      ]
    }
  }

  private static func line(_ change: RecordedChange, _ address: String, _ arguments: [JSONOutput]) -> String {
    var members: [JSONOutput.Member] = [
      .init("frame", .integer(change.frame)), .init("order", .integer(Int64(change.order))),
      .init("address", .string(address)), .init("arguments", .array(arguments)),
    ]
    if change.isQueued { members.append(.init("queued", true)) }
    return JSONWriter.write(.object(members), style: .compact)
  }

  private static func words(
    _ command: Command, parameter: String, _ catalog: UnitCatalog, _ preset: (GraphDescription) -> String
  ) -> (String, [JSONOutput]) {
    func text(_ endpoint: Endpoint) -> JSONOutput { .string("\(endpoint)") }
    switch command {
    case .add(let kind, let name, let values):
      let pairs = values.flatMap { index, value -> [JSONOutput] in
        [.string(catalog[kind]?.parameter(at: index)?.name ?? "?"), .float(value)]
      }
      return ("/graph/add", [.string(kind), .string(name)] + pairs)
    case .remove(let name): return ("/graph/remove", [.string(name)])
    case .rename(let name, let new): return ("/graph/rename", [.string(name), .string(new)])
    case .connect(let from, let to, let isFeedback, let map, let parts):
      let ends = [text(from), text(to)]
      if let map { return (connect, ends + [.bool(isFeedback), "map"] + map.map { .integer(Int64($0)) }) }
      if let parts {
        let numbers = parts.flatMap { part -> [JSONOutput] in
          [.integer(Int64(part.source)), .integer(Int64(part.destination)), .float(part.gain)]
        }
        return (connect, ends + [.bool(isFeedback), "parts"] + numbers)
      }
      return ("/graph/connect", ends + (isFeedback ? ["feedback"] : []))
    case .disconnect(let from, let to): return ("/graph/disconnect", [text(from), text(to)])
    case .insert(let kind, let name, let from, let to):
      return ("/graph/insert", [.string(kind), .string(name), text(from), text(to)])
    case .move(let name, let from, let to): return ("/graph/move", [.string(name), text(from), text(to)])
    case .replace(let name, let kind): return ("/graph/replace", [.string(name), .string(kind)])
    // A capture ends with it.
    case .setPorts: return ("/capture/ports", [])
    case .load(let graph): return (load, [.string(preset(graph))])
    case .set(let node, _, let value, let ramp):
      let address = "/node/\(node)/\(parameter)"
      return ramp.map { (address + "/ramp", [.float(value), .double($0)]) } ?? (address, [.float(value)])
    case .bypass(let node, let isBypassed): return ("/node/\(node)/bypass", [.integer(isBypassed ? 1 : 0)])
    case .reset(let node): return ("/node/\(node)/reset", [])
    case .mute(let isMuted): return ("/mute", [.integer(isMuted ? 1 : 0)])
    }
  }
}
