import Backline
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Recording an engine")
struct AudioRecorderTests {
  /// An engine that a test renders cycle by cycle: what comes in goes through a node that turns it upside down, and out.
  private final class Take {
    let host = OfflineHost.manual()
    let engine: AudioEngine
    let flip: UnitNode
    let folder: TemporaryFolder
    private var frame = 0

    init() throws {
      engine = try AudioEngine(EngineConfiguration(output: .host(host), rampTime: 0))
      flip = try UnitNode("polarity", ["invertLeft": 1, "invertRight": 1])
      folder = try TemporaryFolder()
      try engine.attach(flip)
      try engine.connect(engine.inputNode, to: flip)
      try engine.connect(flip, to: engine.outputNode)
      try engine.start()
      render(256)
    }

    /// Gives the engine so many frames more of a ramp.
    func render(_ frames: Int, lostFrames: Int = 0) {
      var left = frames, lost = lostFrames
      while left > 0 {
        let count = min(64, left)
        let input = Sounds.ramp(count, from: frame)
        _ = host.cycle([input, input], frames: count, lostFrames: lost)
        lost = 0
        frame += count
        left -= count
      }
    }

    func read(_ name: String) throws -> [[Float]] {
      let file = try AudioFile(forReading: folder.file(name))
      guard let buffer = PCMBuffer(format: file.processingFormat, frameCapacity: max(1, Int(file.length))) else {
        throw Unexpected()
      }
      try file.read(into: buffer)
      return (0..<buffer.format.channelCount).map { buffer.samples(ofChannel: $0) }
    }
  }

  @Test("input, a node and output are tracks of one file, aligned to the sample, with every frame")
  func tracks() async throws {
    let take = try Take()
    let events = EventLog<RecordingEvent>()
    let recorder = try AudioRecorder(take.engine) { events.append($0) }
    try recorder.record(
      to: take.folder.file("take.wav"),
      [RecordingSource(take.engine.inputNode), RecordingSource(take.flip), RecordingSource(take.engine.outputNode)])
    #expect(recorder.isRecording && recorder.report.state == .recording)
    take.render(10_000)
    let report = recorder.stop()
    #expect(report.isComplete && report.end == .stopped && report.state == .idle && !recorder.isRecording)
    let tracks = try take.read("take.wav")
    #expect(tracks.count == 6 && tracks.allSatisfy { $0.count == Int(report.frames) })
    let input = tracks[0]
    // Each sample tells its place: all that was rendered from the first one on is there.
    #expect(input.count > 9_000 && zip(input, input.dropFirst()).allSatisfy { abs($1 - $0 - 0x1p-20) < 0x1p-30 })
    #expect(tracks[1] == input && tracks[2] == input.map { -$0 } && tracks[4] == tracks[2] && tracks[5] == tracks[2])
    #expect(await Eventually.holds { events.all.last == .ended(report) })
    #expect(events.all.first == .started(path: take.folder.file("take.wav")))
  }

  @Test("a folder gets a file a track under the labels, a length ends it, and marks go into the files")
  func folder() async throws {
    let take = try Take()
    let recorder = try AudioRecorder(take.engine)
    let folder = take.folder.file("takes/")
    try recorder.record(
      to: folder, [RecordingSource(take.flip, label: "Voice"), RecordingSource(take.engine.inputNode)],
      frameLimit: 4_096)
    try recorder.mark("verse")
    take.render(8_000)
    #expect(await Eventually.holds { !recorder.isRecording })
    let report = recorder.report
    #expect(report.end == .duration && report.frames == 4_096)
    #expect(report.files == ["\(folder)Voice.wav", "\(folder)input node.wav"])
    let tracks = try ["Voice.wav", "input node.wav"].map { try take.read("takes/\($0)") }
    #expect(tracks[0].map { $0.map { -$0 } } == tracks[1])
    // The next one begins as if nothing had been.
    try recorder.record(to: take.folder.file("b.wav"))
    take.render(1_000)
    #expect(recorder.stop().files == [take.folder.file("b.wav")])
    for file in report.files { take.folder.remove(String(file.dropFirst(take.folder.path.utf8.count + 1))) }
    take.folder.removeFolder("takes")
  }

  @Test("armed sources are recorded from before the start, and frames that the server lost are silence that is counted")
  func preRoll() throws {
    let take = try Take()
    var settings = RecordingSettings()
    settings.preRoll = 0.1
    let recorder = try AudioRecorder(take.engine, settings: settings)
    let sources = [RecordingSource(take.engine.inputNode)]
    try recorder.arm(sources)
    take.render(9_600)
    try recorder.record(to: take.folder.file("take.wav"), sources)
    take.render(4_800)
    take.render(4_800, lostFrames: 100)
    let report = recorder.stop()
    #expect(report.lostToServer == 100 && report.gapCount == 1 && report.frames == 4_800 + 9_600 + 100)
    let track = try take.read("take.wav")[0]
    #expect(track.filter { $0 == 0 }.count == 100 && track[9_600..<9_700].allSatisfy { $0 == 0 })
    try recorder.arm([])
  }

  @Test("a recording goes on in another file when the rate changes, and its files outlive the engine")
  func rateChange() async throws {
    var take: Take? = try Take()
    let folder = try #require(take?.folder)
    do {
      let take = try #require(take)
      let recorder = try AudioRecorder(take.engine)
      try recorder.record(to: folder.file("take.wav"))
      take.render(4_800)
      take.host.sampleRate = 96_000
      take.host.send(.sampleRateChanged(96_000))
      #expect(await Eventually.holds { take.engine.isRunning && take.engine.sampleRate == 96_000 })
      take.render(9_600)
    }
    // Nobody holds the recorder; the engine ends the recording.
    take = nil
    let names = folder.names
    #expect(names.count == 2 && names.contains("take.wav"))
    let rates = try names.map { try AudioFile(forReading: folder.file($0)).processingFormat.sampleRate }
    #expect(Set(rates) == [48_000, 96_000])
    let lengths = try names.map { try AudioFile(forReading: folder.file($0)).length }
    #expect(lengths.allSatisfy { $0 > 0 })
  }

  @Test("a recording goes on through a stop and a start, and through the loss and return of the server")
  func interruptions() async throws {
    let take = try Take()
    let recorder = try AudioRecorder(take.engine)
    try recorder.record(to: take.folder.file("take.wav"), [RecordingSource(take.engine.inputNode)])
    take.render(4_800)
    take.engine.stop()
    try take.engine.start()
    take.render(4_800)
    take.host.send(.lost(reason: "the server was killed"))
    let lost = AudioEngineState.interrupted("the server was killed")
    #expect(await Eventually.holds { take.engine.transitions.contains { $0.state == lost } })
    #expect(await Eventually.holds { take.engine.isRunning && take.host.isStarted })
    take.render(4_800)
    let report = recorder.stop()
    #expect(report.files == [take.folder.file("take.wav")] && report.failure == nil && report.end == .stopped)
    let track = try take.read("take.wav")[0]
    // Nothing is there twice or out of order.
    #expect(zip(track, track.dropFirst()).allSatisfy { $0 < $1 } && track.count >= 3 * 4_800 - 64)
  }

  @Test("what cannot be recorded is an error, and changes nothing")
  func refusals() throws {
    let take = try Take()
    let recorder = try AudioRecorder(take.engine), other = try AudioRecorder(take.engine)
    let path = take.folder.file("take.wav")
    #expect(code { try recorder.record(to: path, [RecordingSource(MixerNode())]) } == .notAttached)
    #expect(code { try recorder.record(to: path, [RecordingSource(take.flip, bus: 1)]) } == .noSuchBus)
    #expect(code { try recorder.record(to: path, frameLimit: 0) } == .outOfRange)
    #expect(code { try recorder.record(to: take.folder.file("take.mp3")) } == .formatMismatch)
    let twice = [RecordingSource(take.flip), RecordingSource(take.flip)]
    #expect(code { try recorder.record(to: path, twice) } == .notAllowed)
    #expect(code { try recorder.mark("nowhere") } == .unavailable)
    #expect(recorder.stop().files.isEmpty)
    try recorder.record(to: path)
    #expect(code { try recorder.record(to: take.folder.file("b.wav")) } == .notAllowed)
    #expect(code { try other.record(to: take.folder.file("b.wav")) } == .notAllowed)
    take.render(640)
    #expect(recorder.stop().files == [path])
    try other.record(to: take.folder.file("b.wav"))
    take.render(640)
    #expect(other.stop().isComplete)
    #expect(code { try recorder.record(to: path) } == .notAllowed)
    take.engine.stop()
    #expect(code { try recorder.record(to: take.folder.file("c.wav")) } == .notRunning)
    let rig = try Rig()
    try rig.engine.start()
    #expect(code { try AudioRecorder(rig.engine).record(to: path) } == .wrongMode)
    #expect(take.folder.names == ["b.wav", "take.wav"])
  }
}
