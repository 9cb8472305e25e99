import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOSC
import BacklineOffline
import BacklinePresets
import BacklineRealtime

/// Does a captured performance again: everything is made in the order of control, and taken at the frame, and in the order, in
/// which the render thread took it then.
final class CaptureReplay: OfflineScript, @unchecked Sendable {
  // Why unchecked: used by the thread that renders only.

  private let folder: CaptureFolder
  private let commands: ScriptedCommands
  private let catalog: UnitCatalog
  /// What control did, in its order.
  private let made: [CaptureFolder.Change]
  private var nextMade = 0
  /// What was taken, in the order of frames; of one frame, units take what they were told last, with the block itself.
  private let taken: [CaptureFolder.Change]
  private var nextTaken = 0

  init(_ folder: CaptureFolder, _ commands: ScriptedCommands, catalog: UnitCatalog) {
    self.folder = folder
    self.commands = commands
    self.catalog = catalog
    made = folder.changes.filter { !$0.isUnits }
    taken = folder.changes.filter { $0.isQueued || $0.isAdoptedPlan || $0.isUnits }.sorted { first, second in
      if first.frame != second.frame { return first.frame < second.frame }
      if first.isUnits != second.isUnits { return second.isUnits }
      return first.isUnits ? first.order < second.order : first.line < second.line
    }
  }

  var nextFrame: Int64? { nextTaken < taken.count ? taken[nextTaken].frame : nil }
  let isPlanNext = false

  /// The job that renders a capture.
  static func job(
    _ folder: CaptureFolder, destination: any OfflineDestination, catalog: UnitCatalog = .standard
  ) throws(OfflineError) -> OfflineJob {
    var job = OfflineJob(source: try folder.source(), destination: destination, graph: folder.graph)
    job.catalog = catalog
    job.rampTime = folder.rampTime
    job.fadesIn = true
    job.keepsLatency = true
    job.isTidiedByScript = true
    let failure = MediaFailure()
    let media = MediaService.synchronous { _, error in failure.note(error) }
    job.media = media
    job.mediaFailure = { failure.error }
    job.script = { engine throws(OfflineError) in
      do throws(EngineError) {
        let commands = try ScriptedCommands(engine, media: media)
        engine.wait { engine in engine.beginReenactment() }
        return CaptureReplay(folder, commands, catalog: catalog)
      } catch {
        throw OfflineError(error)
      }
    }
    return job
  }

  func step(_ engine: Engine, at frame: Int64, isNow: Bool) throws(OfflineError) {
    let change = taken[nextTaken]
    nextTaken += 1
    while nextMade < made.count, made[nextMade].order <= change.order {
      try perform(made[nextMade], engine)
      nextMade += 1
    }
    if change.isUnits { return try perform(change, engine) }
    engine.wait { engine in engine.reenactTaking(order: change.order) }
  }

  private func perform(_ change: CaptureFolder.Change, _ engine: Engine) throws(OfflineError) {
    do throws(EngineError) {
      engine.wait { engine in engine.reenact(order: change.order, isQueued: change.isQueued) }
      try make(change, engine)
    } catch {
      throw OfflineError(.badData, "\(folder.path)/events.jsonl:\(change.line): \(error.message)")
    }
  }

  private func make(_ change: CaptureFolder.Change, _ engine: Engine) throws(EngineError) {
    guard let first = change.messages.first else { return }
    switch first.address {
    case CaptureLine.publish:
      engine.wait { engine in engine.reenactPublication(order: change.order, isAdopted: change.isAdoptedPlan) }
    case CaptureLine.fadeOut: engine.wait { engine in engine.fadeOut() }
    case CaptureLine.tidy:
      let numbers = first.arguments.compactMap(\.wholeNumber).map { Int($0) }
      guard numbers.count > 1, (0...numbers.count - 2).contains(numbers[1]) else {
        throw EngineError(.wrongType, "\(first.address) needs a frame, a count of places and the places")
      }
      let places = numbers.dropFirst(2)
      let found = Engine.Tidied(
        frame: Int64(numbers[0]), settled: Array(places.prefix(numbers[1])), ghosts: Array(places.dropFirst(numbers[1]))
      )
      engine.wait { engine in engine.tidyAgain(found) }
    case CaptureLine.load, CaptureLine.connect:
      var made: [Command] = []
      for message in change.messages { made.append(try command(message)) }
      let commands = made
      try engine.wait { engine throws(EngineError) in
        do throws(TransactionError) {
          try engine.perform(commands)
        } catch {
          throw error.error
        }
      }
    default:
      try commands.perform(change.messages, at: nil, flushes: false)
    }
  }

  private func command(_ message: OSCMessage) throws(EngineError) -> Command {
    let texts = message.arguments.map { if case .string(let text) = $0 { text } else { "" } }
    if message.address == CaptureLine.load, let name = texts.first, !name.contains("/") {
      return .load(try PresetFile.load("\(folder.path)/\(name)", catalog: catalog).graph(catalog: catalog))
    }
    guard message.address == CaptureLine.connect, texts.count >= 4 else {
      throw EngineError(.unknownAddress, "'\(message.address)' cannot be read")
    }
    let (from, to) = (try Endpoint(parsing: texts[0]), try Endpoint(parsing: texts[1]))
    let isFeedback = message.arguments[2] == .true
    let numbers = message.arguments.dropFirst(4).compactMap(\.realNumber)
    guard numbers.allSatisfy({ $0.magnitude < 1e6 }) else {
      throw EngineError(.outOfRange, "'\(message.address)' cannot be read")
    }
    if texts[3] == "map" { return .connect(from, to, isFeedback: isFeedback, map: numbers.map { Int($0) }) }
    let parts = stride(from: 0, to: numbers.count - 2, by: 3).map { index in
      ChannelPart(Int(numbers[index]), Int(numbers[index + 1]), Float(numbers[index + 2]))
    }
    return .connect(from, to, isFeedback: isFeedback, parts: parts)
  }
}

extension CaptureFolder.Change {
  private var address: String { messages.first?.address ?? "" }

  /// A plan that the render thread took, not one that a newer one replaced.
  var isAdoptedPlan: Bool { address == CaptureLine.publish && messages.first?.arguments.first == .true }

  /// What was told to a unit by itself.
  var isUnits: Bool { address.hasPrefix("/player/") }
}

extension OSCArgument {
  fileprivate var wholeNumber: Int64? {
    switch self {
    case .int32(let value): Int64(value)
    case .int64(let value): value
    default: nil
    }
  }

  fileprivate var realNumber: Double? {
    if case .double(let value) = self { return value }
    return wholeNumber.map { Double($0) }
  }
}
