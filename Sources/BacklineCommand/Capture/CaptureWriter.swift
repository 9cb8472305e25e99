import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOffline
import BacklinePresets
import Glibc
import Synchronization

/// Takes a performance down into a folder: `inputs.w64` with what came in, `events.jsonl` with what was done, the graph that it
/// began with as `preset.json`, and `capture.json` with the rest, which is written last and says that the others are whole.
final class CaptureWriter: ChangeObserver, @unchecked Sendable {
  // Why unchecked: `State` is guarded by its lock, `tap` is set once before anything begins, the rest belongs to the thread.

  private struct State {
    var lines: [String] = []
    var presets: [(name: String, graph: GraphDescription)] = []
    var presetCount = 0
    var begun: (sampleRate: Int, rampTime: Double)?
    /// How it ended.
    var end: (isExact: Bool, frames: Int64)?
    var failure: String?
    var isOver = false
  }

  private static let interval: UInt32 = 20_000
  private static let pieceFrames = 4096

  let folder: String
  private let channelCount: Int
  private let catalog: UnitCatalog
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())
  private let finished = Semaphore()
  private var tap: TappedHost?
  private var thread: SerialThread?

  /// Makes the folder, or takes an empty one. `channelCount` input ports are taken down.
  init(
    folder: String, channelCount: Int, catalog: UnitCatalog = .standard, log: @escaping @Sendable (String) -> Void
  ) throws(CommandError) {
    self.folder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    self.channelCount = channelCount
    self.catalog = catalog
    self.log = log
    if channelCount > SoundFileReader.maximumChannelCount {
      throw .usage("--capture: \(channelCount) inputs, at most 32 can be taken down")
    }
    if mkdir(folder, 0o777) != 0 {
      guard errno == EEXIST, RenderOptions.isFolder(folder) else {
        throw CommandError(
          .cannotCreate, "--capture: the folder '\(folder)' cannot be made: \(SystemError.text(errno))")
      }
      if access(self.folder + "/capture.json", F_OK) == 0 || access(self.folder + "/events.jsonl", F_OK) == 0 {
        throw CommandError(.cannotCreate, "--capture: '\(folder)' holds a capture already, name another folder")
      }
    }
  }

  /// A host around `host` that lets this take down what comes in.
  func tapped(_ host: any AudioHost) -> TappedHost {
    let tap = TappedHost(host, channelCount: channelCount)
    self.tap = tap
    return tap
  }

  // MARK: Hearing

  func performanceBegan(graph: GraphDescription, sampleRate: Double, rampTime: Double) {
    state.withLock { state in
      state.presets.append(("preset.json", graph))
      state.begun = (Int(sampleRate), rampTime)
    }
    do throws(EngineError) {
      let thread = try SerialThread(name: "capture")
      self.thread = thread
      thread.run { [self] in write() }
    } catch {
      fail(error.message)
      finished.signal()
    }
  }

  func performanceChanged(_ change: RecordedChange) {
    state.withLock { state in
      if state.isOver { return }
      let lines = CaptureLine.lines(change, catalog: catalog) { graph in
        state.presetCount += 1
        let name = "preset-\(state.presetCount).json"
        state.presets.append((name, graph))
        return name
      }
      state.lines += lines
    }
  }

  func performanceEnded(isExact: Bool) {
    let frames = tap?.inputFrames ?? 0
    state.withLock { $0.end = (isExact && tap?.hasLostInput == false, frames) }
  }

  /// Waits until everything is on the disk; at once where nothing has begun.
  func finish() {
    if state.withLock({ $0.begun == nil }) { return }
    finished.wait(seconds: 10)
    thread?.end()
  }

  private func fail(_ reason: String) {
    let isFirst = state.withLock { state in
      defer { if state.failure == nil { state.failure = reason } }
      return state.failure == nil
    }
    if isFirst { log("capture: \(reason): the capture is given up") }
  }

  // MARK: Writing

  private func write() {
    defer { finished.signal() }
    do throws(SoundFileWriteError) {
      let events = try StagedFile(folder + "/events.jsonl", replacing: false)
      let sound = channelCount > 0 ? try StagedFile(folder + "/inputs.w64", replacing: false) : nil
      guard let begun = state.withLock({ $0.begun }) else { return }
      let writer = try sound.map { sound throws(SoundFileWriteError) in
        try SoundFileWriter(
          descriptor: sound.descriptor, path: sound.path,
          encoding: SoundFileEncoding(
            .w64, sampleFormat: .float32, sampleRate: begun.sampleRate, channelCount: channelCount))
      }
      var length: Int64 = 0
      while true {
        let end = state.withLock { $0.end }
        try writeLines(events)
        length += try writeSound(writer, limit: end.map { $0.frames - length })
        if let end {
          try finish(events, sound, writer, length, end, begun)
          return
        }
        usleep(Self.interval)
      }
    } catch {
      state.withLock { $0.isOver = true }
      fail(error.message)
    }
  }

  private func writeLines(_ events: StagedFile) throws(SoundFileWriteError) {
    let (lines, presets) = state.withLock { state in
      defer {
        state.lines = []
        state.presets = []
      }
      return (state.lines, state.presets)
    }
    for (name, graph) in presets {
      let preset = Preset(name: name, graph: graph, catalog: catalog)
      do throws(EngineError) {
        try PresetFile.save(preset, to: "\(folder)/\(name)", catalog: catalog)
      } catch {
        throw .encoder(path: "\(folder)/\(name)", reason: error.message)
      }
    }
    if lines.isEmpty { return }
    try Self.put(Array((lines.joined(separator: "\n") + "\n").utf8), events)
  }

  /// Writes what has come in, up to `limit` frames; returns how many.
  private func writeSound(_ writer: SoundFileWriter?, limit: Int64?) throws(SoundFileWriteError) -> Int64 {
    guard let tap else { return 0 }
    let samples = UnsafeMutablePointer<Float>.allocate(capacity: Self.pieceFrames * max(1, channelCount))
    defer { samples.deallocate() }
    var done: Int64 = 0
    while limit.map({ done < $0 }) ?? true {
      let wanted = min(Int64(Self.pieceFrames), (limit ?? .max) - done)
      let count = tap.takeInput(samples, count: Int(wanted))
      if count == 0 { break }
      try writer?.write(samples, frames: count)
      done += Int64(count)
    }
    return done
  }

  private func finish(
    _ events: StagedFile, _ sound: StagedFile?, _ writer: SoundFileWriter?, _ length: Int64,
    _ end: (isExact: Bool, frames: Int64), _ begun: (sampleRate: Int, rampTime: Double)
  ) throws(SoundFileWriteError) {
    try writeLines(events)
    try events.publish { _ throws(SoundFileWriteError) in }
    if let writer, let sound {
      try writer.finish()
      try sound.publish { path throws(SoundFileWriteError) in _ = try writer.verify(path) }
    }
    let isExact = end.isExact && length == end.frames
    let facts = try StagedFile(folder + "/capture.json", replacing: false)
    let text = JSONWriter.write([
      "format": .string(CaptureFolder.format), "version": .integer(Int64(CaptureFolder.version)),
      "sampleRate": .integer(Int64(begun.sampleRate)),
      "rampTime": .double(begun.rampTime), "inputs": .integer(Int64(channelCount)), "frames": .integer(length),
      "exact": .bool(isExact),
    ])
    try Self.put(Array(text.utf8), facts)
    try facts.publish { _ throws(SoundFileWriteError) in }
    log(
      "capture: \(length) frames in \(folder)"
        + (isExact
          ? ""
          : "; it is not exact: something could not be kept up with, waited for a disk, or is not taken down (a convolver's file)")
    )
  }

  private static func put(_ bytes: [UInt8], _ file: StagedFile) throws(SoundFileWriteError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(file.descriptor, $0.baseAddress! + done, bytes.count - done) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { throw .failed(path: file.path, code: count == 0 ? ENOSPC : errno) }
      done += count
    }
  }
}
