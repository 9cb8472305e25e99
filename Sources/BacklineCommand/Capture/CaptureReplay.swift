import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOSC
import BacklineOffline
import BacklinePresets
import BacklineRealtime

/// Does a captured performance again: every change in the order of control, and at the frame at which the render thread took it
/// then.
final class CaptureReplay: OfflineScript, @unchecked Sendable {
  // Why unchecked: used by the thread that renders only.

  /// Changes that are made one after the other, before the engine takes them in one cycle.
  struct Step {
    let frame: Int64
    var changes: [CaptureFolder.Change]
  }

  private let folder: CaptureFolder
  private let commands: ScriptedCommands
  private let catalog: UnitCatalog
  private let steps: [Step]
  private var next = 0

  init(_ folder: CaptureFolder, _ commands: ScriptedCommands, catalog: UnitCatalog) {
    self.folder = folder
    self.commands = commands
    self.catalog = catalog
    steps = Self.steps(folder.changes)
  }

  var nextFrame: Int64? { next < steps.count ? steps[next].frame : nil }
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
    let media = MediaService.synchronous { _, _ in }
    job.media = media
    job.script = { engine throws(OfflineError) in
      do throws(EngineError) {
        let commands = try ScriptedCommands(engine, media: media)
        return CaptureReplay(folder, commands, catalog: catalog)
      } catch {
        throw OfflineError(error)
      }
    }
    return job
  }

  /// When each change has to be made: no later than it, or anything that was made after it, was taken. Within a frame, a new step
  /// begins where the render thread took something before it could see what came next.
  static func steps(_ changes: [CaptureFolder.Change]) -> [Step] {
    var frames = changes.map { change in
      // A plan with a frame within a quantum has to be told it before.
      change.isStructural && change.frame % Int64(Quantum.frames) != 0 ? max(0, change.frame - 1) : change.frame
    }
    for index in frames.indices.dropLast().reversed() { frames[index] = min(frames[index], frames[index + 1]) }
    var steps: [Step] = []
    for (change, frame) in zip(changes, frames) {
      var isNew = steps.last?.frame != frame
      if !isNew, change.isAdoptedPlan, let last = steps.last {
        isNew = last.changes.contains { earlier in
          earlier.isAdoptedPlan
            || (earlier.isQueued && earlier.frame == frame && earlier.line < change.line && change.frame == frame)
        }
      }
      if isNew {
        steps.append(Step(frame: frame, changes: [change]))
      } else {
        steps[steps.count - 1].changes.append(change)
      }
    }
    return steps
  }

  func step(_ engine: Engine, at frame: Int64, isNow: Bool) throws(OfflineError) {
    let step = steps[next]
    next += 1
    for change in step.changes {
      do throws(EngineError) {
        try perform(change, engine, at: change.isQueued || change.isLate(at: frame) ? change.frame : nil)
      } catch {
        throw OfflineError(.badData, "\(folder.path)/events.jsonl:\(change.line): \(error.message)")
      }
    }
  }

  private func perform(_ change: CaptureFolder.Change, _ engine: Engine, at frame: Int64?) throws(EngineError) {
    guard let first = change.messages.first else { return }
    switch first.address {
    case CaptureLine.publish: engine.wait { engine in engine.flush() }
    case CaptureLine.fadeOut: engine.wait { engine in engine.fadeOut() }
    case CaptureLine.tidy:
      let numbers = first.arguments.compactMap(\.wholeNumber)
      guard let now = numbers.first else { throw EngineError(.wrongType, "\(first.address) needs a frame") }
      engine.wait { engine in engine.tidyAgain(frame: now, ghosts: numbers.dropFirst().map { Int($0) }) }
    case CaptureLine.load, CaptureLine.connect:
      var made: [Command] = []
      for message in change.messages { made.append(try command(message)) }
      let commands = made
      try engine.wait { engine throws(EngineError) in
        do throws(TransactionError) {
          try engine.perform(commands, at: frame)
        } catch {
          throw error.error
        }
      }
    default:
      try commands.perform(change.messages, at: frame, flushes: false)
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

  /// Something that changes the graph, and is done for its frame where that is still to come at `frame`.
  ///
  /// A value that went with a plan has no frame of its own.
  func isLate(at frame: Int64) -> Bool {
    self.frame > frame && !address.hasPrefix("/node/") && address != "/mute"
  }

  /// Something that went with a plan.
  var isStructural: Bool { !isQueued && address != CaptureLine.tidy }
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
