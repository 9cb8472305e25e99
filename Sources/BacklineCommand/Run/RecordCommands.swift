import BacklineEngine
import BacklineMedia
import BacklineOSC

/// `/record/…`: recording what the rack renders. Control queue.
///
/// - `start PATH [SOURCE ...]` answers the path once its files are there; `stop` answers the reason, the frames, the frames that
///   are missing, and the files that have got their names.
/// - `state` answers the state (idle, recording, finishing), the path, the frames, the seconds, the frames that are missing, the
///   number of gaps, the seconds that the disk has room for (-1 where that is not known), how it ended, and what went wrong.
/// - `arm SOURCE 0|1` before a recording has it listened to ahead; while one runs it has a track fall silent or sound, or begin in a
///   folder of tracks.
/// - Subscribers to `/record/event` hear of starts, gaps, tracks that are armed and disarmed, warnings, the disk's room, files and ends.
final class RecordCommands: @unchecked Sendable {
  // Why unchecked: everything is confined to the control queue, but for the log.

  static let event = "/record/event"

  private let engine: Engine
  private let roots: FileRoots
  private let recorder: Recorder
  private let hasEnded = Semaphore()

  /// `log` gets lines for people; from any thread.
  init(
    engine: Engine, roots: FileRoots, settings: RecordingSettings, router: CommandRouter,
    log: @escaping @Sendable (String) -> Void
  ) throws(EngineError) {
    self.engine = engine
    self.roots = roots
    let box = WeakBox<CommandRouter>()
    box.value = router
    recorder = try Recorder(engine: engine, settings: settings) { event in
      if let line = RecordText.line(event) { log("record: \(line)") }
      let message = OSCMessage(Self.event, Self.values(event))
      engine.executor.schedule(after: 0) { box.value?.tell(event: message) }
    }
  }

  /// Takes the addresses, and listens to the output where something from before a start is to be recorded.
  func register(_ router: CommandRouter) {
    router.onChange = { [recorder] message, frame in recorder.note(at: frame) { EventLine.text(message, frame: $0) } }
    router.register(prefix: "/record/") { [self] request throws(EngineError) in try action(request) }
    router.setStatus("recordLostFrames") { [self] in .int64(lostFrames) }
    router.addStatus { [self] in [("record", .string(recorder.report.state.rawValue))] }
    if recorder.settings.preRoll > 0 { recorder.arm(Endpoint("output"), true) { _ in } }
  }

  private var lostFrames: Int64 { recorder.report.lostToDisk + recorder.report.lostToServer }

  // MARK: Commands

  private func action(_ request: OSCRequest) throws(EngineError) -> CommandAction {
    switch request.address {
    case "/record/start":
      try request.expect(1...257, "PATH and SOURCES")
      let path = try destination(try request.text(0, "the path"))
      var sources: [Endpoint] = []
      for index in 1..<max(1, request.arguments.count) { sources.append(try source(request, index)) }
      return .alone { [recorder, sources] completion in
        recorder.start(path: path, sources: sources) { completion($0.map { [.string(path)] }) }
      }
    case "/record/stop":
      try request.expect(0...0, "nothing")
      if !recorder.isRecording { throw EngineError(.unavailable, "/record/stop: nothing is being recorded") }
      return .alone { [recorder] completion in
        recorder.stop { report in
          let lost = report.lostToDisk + report.lostToServer
          completion(
            .success(
              [.string(report.end?.rawValue ?? ""), .int64(report.frames), .int64(lost)]
                + report.files.map { .string($0) }))
        }
      }
    case "/record/state":
      try request.expect(0...0, "nothing")
      return .answer { [self] () throws(EngineError) in state() }
    case "/record/marker":
      try request.expect(1...1, "TEXT")
      let text = try request.text(0, "the text")
      return act { [recorder] () throws(EngineError) in try recorder.mark(text) }
    case "/record/arm":
      try request.expect(2...2, "SOURCE 0|1")
      let source = try source(request, 0), isArmed = try request.toggle(1, "the switch")
      return .alone { [recorder] completion in
        recorder.arm(source, isArmed) { completion($0.map { [] }) }
      }
    case "/record/label":
      try request.expect(2...2, "SOURCE TEXT")
      let source = try source(request, 0), text = try request.text(1, "the text")
      return act { [recorder] () throws(EngineError) in try recorder.label(source, text) }
    default:
      throw EngineError(
        .unknownAddress, "'\(request.address)': recording knows start, stop, state, marker, arm and label")
    }
  }

  private func act(_ body: @escaping () throws(EngineError) -> Void) -> CommandAction {
    .alone { completion in
      do throws(EngineError) {
        try body()
        completion(.success([]))
      } catch {
        completion(.failure(error))
      }
    }
  }

  private func source(_ request: OSCRequest, _ index: Int) throws(EngineError) -> Endpoint {
    try Endpoint(parsing: request.text(index, "a source"))
  }

  /// A file, or a folder where the path ends in a slash.
  private func destination(_ path: String) throws(EngineError) -> String {
    guard path.hasSuffix("/"), path != "/" else { return try roots.destination(path) }
    return try roots.destination(String(path.dropLast())) + "/"
  }

  private func state() -> [OSCArgument] {
    let report = recorder.report
    return [
      .string(report.state.rawValue), .string(report.path), .int64(report.frames), .double(report.seconds),
      .int64(report.lostToDisk + report.lostToServer), .int32(Int32(clamping: report.gapCount)),
      .double(report.secondsLeft ?? -1), .string(report.end?.rawValue ?? ""), .string(report.failure ?? ""),
    ]
  }

  private static func values(_ event: RecordingEvent) -> [OSCArgument] {
    switch event {
    case .started(let path): [.string("started"), .string(path)]
    case .gap(let gap): [.string("gap"), .int64(gap.frame), .int64(gap.count), .string(gap.cause.rawValue)]
    case .armed(let track, let frame): [.string("armed"), .string(track), .int64(frame)]
    case .disarmed(let track, let frame): [.string("disarmed"), .string(track), .int64(frame)]
    case .warning(let text): [.string("warning"), .string(text)]
    case .space(let seconds): [.string("space"), .double(seconds)]
    case .published(let path, let frames): [.string("file"), .string(path), .int64(frames)]
    case .ended(let report): [.string("ended"), .string(report.path), .string(report.end?.rawValue ?? "")]
    }
  }

  // MARK: The engine

  func follow(_ change: EngineEvent.GraphChange, _ name: String) {
    guard change == .renamed, let space = name.firstIndex(of: " ") else { return }
    recorder.followRename(from: String(name[..<space]), to: String(name[name.index(after: space)...]))
  }

  func followConfiguration(_ cause: String, from old: Int, to new: Int) {
    recorder.followConfiguration(cause, from: old, to: new)
  }

  /// Ends a recording that runs. Nothing renders any more.
  func end() { recorder.stop { [hasEnded] _ in hasEnded.signal() } }

  /// Waits until what `end` has ended is on the disk. Not on the control queue.
  func waitForEnd() { hasEnded.wait(seconds: 10) }

  /// Says which recordings in the roots were not finished.
  func listUnfinished(_ log: (String) -> Void) {
    for folder in roots.folders {
      for left in UnfinishedRecording.find(folder) {
        log("record: \(left.path) was not finished: 'backline recover' brings it back")
      }
    }
  }
}
