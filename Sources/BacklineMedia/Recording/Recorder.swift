import BacklineEngine
import BacklineRealtime

/// What holds for all recordings of one recorder.
public struct RecordingSettings: Sendable {
  /// How long the disk may hang before frames are lost, 0.1 to 600 seconds. The ring takes 4 bytes a sample: about 1 MiB a channel for 5 seconds at
  /// 48 kHz.
  public var ringSeconds = 5.0
  /// Seconds from before a start that are recorded, too, of sources that are armed: 0 to 600.
  public var preRoll = 0.0
  /// A new file begins after so many seconds, or before a file gets larger than so many bytes.
  public var splitSeconds: Double?
  public var splitBytes: Int64?
  /// 32-bit floating point where it is `nil`, or the best that the kind of file has.
  public var sampleFormat: SampleFormat?
  /// The kind of file; by the ending of its name where it is `nil`, WAV (RF64 beyond 4 GiB) where that says nothing.
  public var container: SoundContainer?
  /// What is done while a recording runs is kept beside it, where somebody notes it (`Recorder.note`).
  public var keepsEvents = false

  public init() {}

  /// These settings with every number in a range that can be worked with.
  var held: RecordingSettings {
    func held(_ value: Double, _ range: ClosedRange<Double>) -> Double {
      value >= range.lowerBound ? min(value, range.upperBound) : range.lowerBound
    }
    var settings = self
    settings.ringSeconds = held(ringSeconds, 0.1...600)
    settings.preRoll = held(preRoll, 0...600)
    settings.splitSeconds = splitSeconds.map { held($0, 0.1...1e9) }
    settings.splitBytes = splitBytes.map { max(1 << 14, $0) }
    return settings
  }
}

/// Records what an engine renders, live: any set of its inputs, outputs and nodes, as the tracks of one file or as files.
///
/// All tracks have one clock, the engine's frames. The render thread fills a ring and never waits; a thread writes it down. Where
/// the disk is too slow for longer than the ring lasts, frames are left out, counted and told, and silence stands in their place.
/// Control queue only.
public final class Recorder: @unchecked Sendable {
  // Why unchecked: confined to the control queue, but for the writer.

  public let engine: Engine
  public private(set) var settings: RecordingSettings
  let writer: RecordingWriter
  private var armed: [Endpoint] = []
  private var labels: [Endpoint: String] = [:]
  /// What the present ring holds.
  private var tracks: [RecordingPlan.Track] = []
  private var memory: RecordMemory?
  /// The one before, until this one is rendered into.
  private var previous: RecordMemory?
  /// From a start that is under way to the end.
  private var plan: RecordingPlan?
  /// True once a start has succeeded, until the end.
  public private(set) var isRecording = false

  /// A recorder for an engine; `tell` is called on threads of its own.
  public init(
    engine: Engine, settings: RecordingSettings = RecordingSettings(),
    tell: @escaping @Sendable (RecordingEvent) -> Void
  ) throws(EngineError) {
    self.engine = engine
    self.settings = settings.held
    let box = WeakBox<Recorder>()
    writer = try RecordingWriter { event in
      tell(event)
      switch event {
      case .ended: engine.executor.schedule(after: 0) { box.value?.hasEnded() }
      case .armed: engine.executor.schedule(after: 0) { box.value?.forgetPrevious() }
      default: break
      }
    }
    box.value = self
  }

  /// How the recording is doing, or how the last one ended.
  public var report: RecordingReport { writer.state }

  // MARK: Commands

  /// Begins a recording at `path`; see `RecordingPlan`. Without sources, those that are armed are recorded, and `output` where
  /// none is. `frameLimit` ends it.
  public func start(
    path: String, sources: [Endpoint] = [], frameLimit: Int64? = nil,
    _ completion: @escaping @Sendable (Result<Void, EngineError>) -> Void
  ) {
    do throws(EngineError) {
      if plan != nil { throw EngineError(.busy, "\(report.path) is being recorded: stop that first") }
      let wanted = !sources.isEmpty ? sources : !armed.isEmpty ? armed : [Endpoint("output")]
      let tracks = try makeTracks(wanted)
      var plan: RecordingPlan
      do throws(SoundFileWriteError) {
        plan = try RecordingPlan(
          path: path, tracks: tracks, container: settings.container, sampleFormat: settings.sampleFormat)
      } catch {
        throw EngineError(error)
      }
      let rate = engine.here { $0.sampleRate }
      plan.splitFrames = settings.splitSeconds.map { max(1, Int64(($0 * rate).rounded())) }
      plan.splitBytes = settings.splitBytes
      plan.frameLimit = frameLimit
      plan.keepsEvents = settings.keepsEvents
      var clock: Int64?
      if memory != nil, isHeard(tracks) {
        clock = currentFrame - Int64((settings.preRoll * rate).rounded())
      } else {
        try checkMemory(plan)
        listen(to: tracks)
      }
      self.plan = plan
      writer.start(plan, from: clock) { [self, engine] result in
        engine.executor.schedule(after: 0) { [self] in
          switch result {
          case .success:
            isRecording = true
            completion(.success(()))
          case .failure(let error):
            self.plan = nil
            listenToArmed()
            completion(.failure(EngineError(error)))
          }
        }
      }
    } catch {
      completion(.failure(error))
    }
  }

  /// Ends the recording here; told once its files have their names, or could not get them.
  public func stop(_ completion: @escaping @Sendable (RecordingReport) -> Void) {
    writer.stop(before: currentFrame, .stopped, completion)
  }

  /// Marks the present frame.
  public func mark(_ text: String) throws(EngineError) {
    guard isRecording, memory != nil else { throw EngineError(.unavailable, "nothing is being recorded: start first") }
    if let container = settings.container ?? SoundContainer(ofFileNamed: report.path), container != .wav,
      container != .rf64
    {
      throw EngineError(.notAllowed, "\(container.title) keeps no markers here: record WAV or RF64")
    }
    writer.mark(currentFrame, text)
  }

  /// Notes what was done, at an absolute frame of the engine's or now, in the file of events beside a recording: `line` makes its line
  /// for the frame of the recording. Where none runs, or none keeps events, nothing is noted.
  ///
  /// A command without a frame of its own is heard from the next quantum edges on that the render thread gets to, a period or two
  /// later.
  public func note(at frame: Int64? = nil, _ line: @escaping @Sendable (Int64) -> String) {
    guard isRecording, settings.keepsEvents else { return }
    let ahead = max(memory?.ring.pointee.serverFrames ?? 0, previous?.ring.pointee.serverFrames ?? 0)
    writer.note(frame.map { max(currentFrame, $0 + ahead) } ?? currentFrame, line)
  }

  /// Has a source listened to before a recording, or not any more.
  ///
  /// While one runs, has its track sound or be silent from the present frame on. A source that the recording has no track of gets
  /// one, where each track has a file of its own: it is silent up to a frame soon, and all files are of one length. One file of
  /// all tracks cannot get another, which is refused.
  public func arm(
    _ source: Endpoint, _ isArmed: Bool, _ completion: @escaping @Sendable (Result<Void, EngineError>) -> Void
  ) {
    do throws(EngineError) {
      let channels = try engine.hereThrowing { engine throws(EngineError) in try engine.recordChannels(of: source) }
      if plan == nil {
        setArmed(source, isArmed)
        listenToArmed()
        completion(.success(()))
      } else if let index = tracks.firstIndex(where: { $0.source == source }) {
        setArmed(source, isArmed)
        writer.setSilent(tracks[index].channels, !isArmed, from: currentFrame)
        completion(.success(()))
      } else if isArmed {
        try join(source, channels, completion)
      } else {
        setArmed(source, false)
        completion(.success(()))
      }
    } catch {
      completion(.failure(error))
    }
  }

  private func setArmed(_ source: Endpoint, _ isArmed: Bool) {
    armed.removeAll { $0 == source }
    if isArmed { armed.append(source) }
  }

  /// Gives a source a track of the recording that runs.
  private func join(
    _ source: Endpoint, _ channels: Int, _ completion: @escaping @Sendable (Result<Void, EngineError>) -> Void
  ) throws(EngineError) {
    guard var longer = plan else { return }
    let first = longer.channelCount
    let track = RecordingPlan.Track(
      source: source, label: labels[source] ?? source.description, channels: first..<first + channels)
    do throws(SoundFileWriteError) {
      try longer.add(track)
    } catch {
      throw EngineError(error)
    }
    try checkMemory(longer)
    plan = longer
    tracks.append(track)
    writer.add(track) { [self, engine] result in
      engine.executor.schedule(after: 0) { [self] in
        if case .failure(let error) = result {
          // Its channels stay empty.
          tracks.removeAll { $0.channels == track.channels }
          completion(.failure(EngineError(error)))
          return
        }
        setArmed(source, true)
        if plan != nil, let next = listenAlso() { writer.follow(next) }
        completion(.success(()))
      }
    }
  }

  /// Names a source, for the names of files.
  public func label(_ source: Endpoint, _ text: String) throws(EngineError) {
    _ = try engine.hereThrowing { engine throws(EngineError) in try engine.recordChannels(of: source) }
    labels[source] = text.isEmpty ? nil : text
  }

  /// The sources that are armed, in order.
  public var armedSources: [Endpoint] { armed }

  /// The sources of the recording that runs.
  public var recordedSources: [Endpoint] { plan == nil ? [] : tracks.map(\.source) }

  /// The engine runs at another rate from here on; nothing renders yet. A recording goes on in another file, or ends where there
  /// is no memory for what the other rate needs.
  public func followRate() {
    guard let memory else { return }
    let channels = tracks.map(\.channels.upperBound).max() ?? 0
    let rate = engine.here { $0.sampleRate }
    if SampleMemory.isAvailable(bytes: RecordRing.bytes(channelCount: channels, frames: ringFrames(rate))) {
      listen(to: tracks)
    } else {
      writer.stop(before: memory.ring.pointee.currentFrame, .rateChanged) { _ in }
    }
  }

  /// The engine's host has another period, say, which a recording that runs has a mark of.
  public func followConfiguration(_ cause: String, from old: Int, to new: Int) {
    if isRecording { writer.mark(currentFrame, "\(cause): \(old) -> \(new)") }
    if cause == "sampleRate" { followRate() }
  }

  /// Nodes have other names now.
  public func followRename(from old: String, to new: String) {
    func renamed(_ source: Endpoint) -> Endpoint { source.node == old ? Endpoint(new, bus: source.bus) : source }
    armed = armed.map(renamed)
    tracks = tracks.map { RecordingPlan.Track(source: renamed($0.source), label: $0.label, channels: $0.channels) }
    labels = Dictionary(labels.map { (renamed($0.key), $0.value) }) { first, _ in first }
  }

  // MARK: Listening

  private func makeTracks(_ sources: [Endpoint]) throws(EngineError) -> [RecordingPlan.Track] {
    var first = 0
    var tracks: [RecordingPlan.Track] = []
    for source in sources {
      let count = try engine.hereThrowing { engine throws(EngineError) in try engine.recordChannels(of: source) }
      if tracks.contains(where: { $0.source == source }) {
        throw EngineError(.notAllowed, "'\(source)' is named twice: once is enough")
      }
      let label = labels[source] ?? source.description
      tracks.append(RecordingPlan.Track(source: source, label: label, channels: first..<first + count))
      first += count
    }
    return tracks
  }

  /// The frame after the last one that was rendered, on the recording's clock.
  private var currentFrame: Int64 {
    max(memory?.ring.pointee.currentFrame ?? 0, previous?.ring.pointee.currentFrame ?? 0)
  }

  /// True once the present ring is rendered into.
  private var hasBegun: Bool { memory?.ring.pointee.hasBegun == true }

  private func forgetPrevious() { if hasBegun { previous = nil } }

  private func isHeard(_ tracks: [RecordingPlan.Track]) -> Bool {
    tracks.map(\.source) == self.tracks.map(\.source) && tracks.map(\.channels) == self.tracks.map(\.channels)
  }

  private func checkMemory(_ plan: RecordingPlan) throws(EngineError) {
    let frames = ringFrames(engine.here { $0.sampleRate })
    if !SampleMemory.isAvailable(bytes: RecordRing.bytes(channelCount: plan.channelCount, frames: frames)) {
      throw EngineError(.limitReached, "there is not enough memory left to record \(plan.channelCount) channels")
    }
  }

  private func listen(to tracks: [RecordingPlan.Track]) {
    self.tracks = tracks
    let rate = engine.here { $0.sampleRate }
    listenAlso()
    previous = nil
    writer.read(memory, sampleRate: Int(rate), preRoll: Int(settings.preRoll * rate))
  }

  /// Has all tracks rendered into a ring of their own from soon on.
  @discardableResult
  private func listenAlso() -> RecordMemory? {
    let rate = engine.here { $0.sampleRate }
    let channels = tracks.map(\.channels.upperBound).max() ?? 0
    let memory = channels > 0 ? RecordMemory(channelCount: channels, frames: ringFrames(rate)) : nil
    if previous == nil || hasBegun { previous = self.memory }
    self.memory = memory
    engine.here { engine in
      engine.record(
        tracks.map {
          RecordTrack(source: $0.source, firstChannel: $0.channels.lowerBound, channelCount: $0.channels.count)
        }, into: memory)
      engine.flush()
    }
    return memory
  }

  /// A little more than was asked for: five seconds at 48 kHz then fit into 2^18 frames, and a ring is a power of two long.
  private func ringFrames(_ rate: Double) -> Int { Int((settings.ringSeconds + settings.preRoll + 0.45) * rate) }

  private func listenToArmed() {
    let tracks = armed.compactMap { source in (try? makeTracks([source])) == nil ? nil : source }
    let wanted = (try? makeTracks(tracks)) ?? []
    if isHeard(wanted) && (memory != nil) == !wanted.isEmpty { return }
    listen(to: wanted)
  }

  private func hasEnded() {
    if writer.state.state == .recording { return }
    plan = nil
    isRecording = false
    listenToArmed()
  }
}
