import BacklineEngine
import BacklineMedia
import Synchronization

/// Records what an engine renders into files: any set of its input, its output and its nodes, as the tracks of one file or as a
/// file each.
///
/// ```swift
/// let recorder = try AudioRecorder(engine)
/// try recorder.record(to: "take.wav", [RecordingSource(engine.inputNode), RecordingSource(reverb)])
/// ...
/// let report = recorder.stop()
/// ```
///
/// All tracks have one clock and begin and end at the same frame. What is heard never waits for the disk; frames that a slower disk
/// or the server costs are silence in their place, and the report has them. A file gets its name when it is whole; what a kill or a power
/// cut leaves, `backline recover` brings back.
///
/// Methods may be called on any thread but a render thread. An engine is recorded by one recorder at a time; a recording goes on
/// when nobody holds its recorder, and ends with the engine.
public final class AudioRecorder: Sendable {
  /// What holds for all its recordings.
  public let settings: RecordingSettings
  private let owner: WeakBox<AudioEngine>
  private let kernel: Recorder
  private let armed = Mutex<Bool>(false)

  /// A recorder for an engine. `observer` hears of starts, gaps, warnings, files and ends, on a thread of the engine's.
  public init(
    _ engine: AudioEngine, settings: RecordingSettings = RecordingSettings(),
    observer: (@Sendable (RecordingEvent) -> Void)? = nil
  ) throws(AudioError) {
    self.settings = settings
    owner = WeakBox()
    owner.value = engine
    let courier = try engine.eventCourier()
    let box = WeakBox<AudioRecorder>()
    kernel = try engine.control { kernel throws(AudioError) in
      do throws(EngineError) {
        return try Recorder(engine: kernel, settings: settings) { event in
          courier.run {
            if case .ended = event { box.value?.giveUp() }
            observer?(event)
          }
        }
      } catch {
        throw AudioError(error)
      }
    }
    box.value = self
    engine.engine.wait { kernel in
      kernel.observe { event in
        if case .configurationChanged(let cause, let old, let new, epoch: _) = event {
          box.value?.kernel.followConfiguration(cause, from: old, to: new)
        }
      }
    }
  }

  // MARK: Recording

  /// Begins a recording, and returns when its files are there: one file with all tracks or, where `path` ends in a slash, a folder with
  /// a file a track. Without sources the output is recorded. `frameLimit` ends it by itself after so many frames.
  ///
  /// Files are WAV (RF64 beyond 4 GiB), RF64, W64 or CAF, by the name's ending. Throws where the engine does not run or renders
  /// offline, where another recording runs, for names that are taken, and for what no file can hold.
  public func record(
    to path: String, _ sources: [RecordingSource] = [], frameLimit: Int64? = nil
  ) throws(AudioError) {
    let engine = try engine()
    if let frameLimit, frameLimit < 1 { throw AudioError(.outOfRange, "a recording has one frame at least") }
    guard engine.isRunning else { throw AudioError(.notRunning, "there is nothing to record: start the engine first") }
    if engine.manualRenderingMode == .offline {
      throw AudioError(.wrongMode, "what is rendered offline is the caller's: write it to an AudioFile")
    }
    let sources = sources.isEmpty ? [RecordingSource(engine.outputNode)] : sources
    try claim(engine)
    let answer = Answer()
    do throws(AudioError) {
      let endpoints = try label(sources, engine)
      engine.engine.wait { _ in
        kernel.start(path: path, sources: endpoints, frameLimit: frameLimit) { answer.put($0) }
      }
      try answer.value()
      // The end of the one before may have been told meanwhile.
      engine.recorder.withLock { $0 = self }
    } catch {
      giveUp()
      throw error
    }
  }

  /// Ends the recording, and returns when its files have their names, or could not get them; what became of the last one where none
  /// runs.
  @discardableResult
  public func stop() -> RecordingReport {
    let done = Semaphore()
    kernel.engine.wait { _ in kernel.stop { _ in done.signal() } }
    done.wait()
    giveUp()
    return kernel.report
  }

  /// Marks the present frame in the files. WAV and RF64 only.
  public func mark(_ text: String) throws(AudioError) {
    try control { kernel throws(EngineError) in try kernel.mark(text) }
  }

  /// Listens to sources ahead of a recording of the same ones, which then begins `preRoll` seconds before its start. None ends that.
  ///
  /// While a recording runs its tracks sound where they are among the sources, and are silent elsewhere, from the present frame on.
  /// A source that it has no track of gets one with a file of its own, silent up to here, where the recording goes into a folder;
  /// throws where it is one file, whose tracks are those that it began with.
  public func arm(_ sources: [RecordingSource]) throws(AudioError) {
    let engine = try engine()
    if !sources.isEmpty { try claim(engine) }
    do throws(AudioError) {
      let endpoints = try label(sources, engine)
      let old = kernel.engine.wait { _ in kernel.armedSources + kernel.recordedSources }
      for source in Set(old).subtracting(endpoints) { try arm(source, false) }
      for source in endpoints { try arm(source, true) }
      armed.withLock { $0 = !sources.isEmpty }
    } catch {
      giveUp()
      throw error
    }
    giveUp()
  }

  private func arm(_ source: Endpoint, _ isArmed: Bool) throws(AudioError) {
    let answer = Answer()
    kernel.engine.wait { _ in kernel.arm(source, isArmed) { answer.put($0) } }
    try answer.value()
  }

  /// True while a recording runs.
  public var isRecording: Bool { kernel.engine.wait { _ in kernel.isRecording } }

  /// How the recording is doing, or how the last one ended.
  public var report: RecordingReport { kernel.report }

  // MARK: The engine

  private func engine() throws(AudioError) -> AudioEngine {
    if let engine = owner.value { return engine }
    throw AudioError(.notAttached, "the engine of this recorder is gone: make a recorder for another one")
  }

  private func control(_ body: @Sendable (Recorder) throws(EngineError) -> Void) throws(AudioError) {
    do throws(EngineError) {
      try kernel.engine.wait { _ throws(EngineError) in try body(kernel) }
    } catch {
      throw AudioError(error)
    }
  }

  /// The kernel's names of sources, which it is told the labels of.
  private func label(_ sources: [RecordingSource], _ engine: AudioEngine) throws(AudioError) -> [Endpoint] {
    try engine.control { _ throws(AudioError) in
      var endpoints: [Endpoint] = []
      for source in sources {
        let endpoint = try source.endpoint(engine.graph)
        do throws(EngineError) {
          try kernel.label(endpoint, source.label ?? source.node.kindName)
        } catch {
          throw AudioError(error)
        }
        endpoints.append(endpoint)
      }
      return endpoints
    }
  }

  /// Takes the engine, which has one ring for its recorder.
  private func claim(_ engine: AudioEngine) throws(AudioError) {
    let isFree = engine.recorder.withLock { present in
      if let present, present !== self { return false }
      present = self
      return true
    }
    if !isFree { throw AudioError(.notAllowed, "another recorder records this engine: stop that first") }
  }

  /// Leaves the engine to others where nothing is recorded or listened to.
  private func giveUp() {
    guard let engine = owner.value, !armed.withLock({ $0 }) else { return }
    engine.recorder.withLock { present in
      if present === self && kernel.report.state == .idle { present = nil }
    }
  }

  /// Ends what runs and waits for its files, ten seconds at most: the engine goes. Not on the control queue.
  func end() {
    let done = Semaphore()
    kernel.engine.wait { _ in kernel.stop { _ in done.signal() } }
    done.wait(seconds: 10)
  }
}

/// What a start was answered, for the thread that waits for it.
private final class Answer: Sendable {
  private let signal = Semaphore()
  private let result = Mutex<Result<Void, EngineError>?>(nil)

  func put(_ value: Result<Void, EngineError>) {
    result.withLock { $0 = value }
    signal.signal()
  }

  func value() throws(AudioError) {
    signal.wait()
    if case .failure(let error) = result.withLock({ $0 }) { throw AudioError(error) }
  }
}
