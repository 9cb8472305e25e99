import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineTestSupport
import CSndFile
import Foundation
import Synchronization
import Testing

/// What a load was answered, and the failures reported.
private final class Answers: Sendable {
  let results = Mutex<[Result<LoadedFile, EngineError>]>([])
  let failures = Mutex<[EngineError]>([])

  func add(_ result: Result<LoadedFile, EngineError>) { results.withLock { $0.append(result) } }

  func fail(_ control: PlayerControl, _ error: EngineError) { failures.withLock { $0.append(error) } }

  var all: [Result<LoadedFile, EngineError>] { results.withLock { $0 } }
}

@Suite("Media service")
struct MediaServiceTests {
  private static let wav = SF_FORMAT_WAV | SF_FORMAT_FLOAT

  /// A player with its service, driven without threads.
  private struct Offline {
    let answers = Answers()
    let service: MediaService
    let rig: PlayerRig

    init(sampleRate: Double = 48_000) {
      service = MediaService.synchronous(onFailure: answers.fail)
      rig = PlayerRig(sampleRate: sampleRate)
    }

    func load(_ path: String) -> Result<LoadedFile, EngineError>? {
      service.load(path, into: rig.control, sampleRate: rig.control.sampleRate, completion: answers.add)
      return answers.all.last
    }
  }

  @Test("a loaded file plays sample for sample; mono sounds on both sides")
  func plays() throws {
    let fixtures = SoundFixtures()
    let samples = SoundFixtures.coded(30_000)
    let stereo = fixtures.write("a.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, samples)
    let offline = Offline()
    let loaded = try #require(try offline.load(stereo)?.get())
    #expect(loaded.frameCount == 30_000 && loaded.duration == 0.625)
    try offline.rig.control.play(at: 777)
    let output = offline.rig.renderStereo(31_000, cuts: [333])
    for side in 0...1 {
      #expect(output[side][..<777].allSatisfy { $0 == 0 })
      #expect(Array(output[side][777..<30_777]) == (0..<30_000).map { samples[2 * $0 + side] })
    }
    let mono = fixtures.write("m.wav", format: Self.wav, channels: 1, SoundFixtures.coded(100, channels: 1))
    _ = try offline.load(mono)?.get()
    try offline.rig.control.play(at: 32_000)
    let both = offline.rig.renderStereo(2000)
    #expect(Array(both[0][1000..<1100]) == SoundFixtures.coded(100, channels: 1))
    #expect(both[0] == both[1])
  }

  @Test("a file of 44.1 kHz plays at 48 kHz with its length and pitch, and its loop is exact in frames of the engine")
  func otherRate() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write(
      "a.wav", format: Self.wav, rate: 44_100, SoundFixtures.sine(1000, frames: 44_100, rate: 44_100))
    let offline = Offline()
    #expect(try offline.load(path)?.get().frameCount == 48_000)
    try offline.rig.control.play()
    let once = offline.rig.render(48_100)
    #expect(abs(Signals.amplitude(of: 1000, in: Array(once[4800..<43_200])) - 0.5) < 1e-4)
    #expect(once[48_000...].allSatisfy { $0 == 0 })
    try offline.rig.control.setLoop(10_000..<20_000)
    try offline.rig.control.seek(to: 15_000)
    try offline.rig.control.play(at: 50_000)
    let looped = offline.rig.render(26_900)
    #expect(
      Array(looped[1900..<26_900]) == Array(once[15_000..<20_000] + once[10_000..<20_000] + once[10_000..<20_000]))
  }

  @Test("a file that cannot be loaded is answered with its error, and the player stays as it was")
  func refused() throws {
    let fixtures = SoundFixtures()
    let pipe = fixtures.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let whole = fixtures.write("a.wav", format: Self.wav, SoundFixtures.coded(1000))
    let offline = Offline()
    for (path, code) in [
      (fixtures.path("missing"), EngineError.Code.notFound), (pipe, .ioError), (fixtures.folder, .ioError),
      (fixtures.truncated(whole), .ioError), (fixtures.write("empty.wav", bytes: Data()), .ioError),
    ] {
      let result = offline.load(path)
      guard case .failure(let error) = result else {
        Issue.record("\(path) was loaded")
        continue
      }
      #expect(error.code == code && error.message.contains(path))
      #expect(offline.rig.render(100).allSatisfy { $0 == 0 })
      #expect(throws: PlayerError.nothingLoaded) { try offline.rig.control.play() }
    }
    offline.service.load(whole, into: offline.rig.control, sampleRate: .nan, completion: offline.answers.add)
    #expect(offline.answers.all.count == 6)
    _ = try offline.load(whole)?.get()
    try offline.rig.control.play()
    _ = offline.rig.render(10)
    _ = offline.load(pipe)
    #expect(offline.rig.render(1)[0] == SoundFixtures.coded(11).suffix(2).first)
  }

  @Test("a file that breaks while it plays is played up to there and reported once")
  func breaks() throws {
    let fixtures = SoundFixtures()
    let whole = fixtures.write(
      "a.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SoundFixtures.sine(440, frames: 200_000))
    let offline = Offline()
    _ = try #require(try offline.load(fixtures.truncated(whole))?.get())
    try offline.rig.control.play()
    var output: [Float] = []
    while output.count < 200_000 {
      offline.service.fillSynchronously()
      output += offline.rig.render(4096)
    }
    #expect(output[50_000] != 0 && output[150_000...].allSatisfy { $0 == 0 })
    #expect(offline.rig.control.state.hasEnded)
    #expect(offline.answers.failures.withLock { $0.map(\.code) } == [.ioError])
  }

  @Test("samples that are not finite are silent and counted at the player")
  func nonFinite() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write("a.wav", format: Self.wav, [0.5, .nan, .infinity, 0.25])
    let offline = Offline()
    _ = offline.load(path)
    try offline.rig.control.play()
    #expect(offline.rig.renderStereo(2) == [[0.5, 0], [0, 0.25]])
    #expect(offline.rig.control.nonFiniteCount == 2)
  }

  @Test("unloading, and freeing the unit, close the file")
  func closes() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write("a.wav", format: Self.wav, SoundFixtures.coded(500_000))
    let service = try MediaService { _, _ in }
    defer { service.shutdown() }
    let answers = Answers()
    var rigs = (0..<4).map { _ in PlayerRig() }
    for rig in rigs { service.load(path, into: rig.control, sampleRate: 48_000, completion: answers.add) }
    #expect(eventually { answers.all.count == 4 })
    #expect(fixtures.openDescriptors == 4)
    try rigs[0].control.play()
    #expect(eventually { rigs[0].control.urgency > 8192 })
    _ = rigs[0].render(1000, isFilled: false)
    service.unload(rigs[0].control)
    service.unload(rigs[1].control)
    #expect(eventually { fixtures.openDescriptors == 2 })
    rigs = []
    #expect(eventually { fixtures.openDescriptors == 0 })
  }

  @Test("every load is answered exactly once: loaded, overtaken by another one, or ended with the service")
  func onceEach() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write("a.wav", format: Self.wav, SoundFixtures.coded(1000))
    let service = try MediaService { _, _ in }
    let answers = Answers()
    let rig = PlayerRig()
    for _ in 0..<200 { service.load(path, into: rig.control, sampleRate: 48_000, completion: answers.add) }
    #expect(eventually { answers.all.count >= 200 })
    #expect(throws: Never.self) { try answers.all.last?.get() }
    for case .failure(let error) in answers.all { #expect(error.code == .busy) }
    for _ in 0..<50 { service.load(path, into: rig.control, sampleRate: 48_000, completion: answers.add) }
    service.shutdown()
    #expect(answers.all.count == 250)
    service.load(path, into: rig.control, sampleRate: 48_000, completion: answers.add)
    #expect(answers.all.count == 251)
    #expect(fixtures.openDescriptors == 0)
  }

  @Test("64 players, of different files and places, are all kept read ahead, and every frame is right")
  func manyPlayers() throws {
    let fixtures = SoundFixtures()
    let frames = 300_000
    let samples = SoundFixtures.coded(frames)
    let paths = [
      fixtures.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, samples),
      fixtures.write("a.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, samples),
    ]
    let service = try MediaService { _, _ in }
    defer { service.shutdown() }
    let answers = Answers()
    let rigs = (0..<64).map { _ in PlayerRig() }
    for (index, rig) in rigs.enumerated() {
      service.load(paths[index % 2], into: rig.control, sampleRate: 48_000, completion: answers.add)
    }
    #expect(eventually { answers.all.count == 64 })
    for (index, rig) in rigs.enumerated() {
      if index % 3 == 0 { try rig.control.setLoop(0..<Int64(frames)) }
      try rig.control.seek(to: Int64(index * 4000))
      try rig.control.play(at: Int64(index))
    }
    var heard = [[Float]](repeating: [], count: 64)
    for _ in 0..<40 {
      #expect(eventually { rigs.allSatisfy { $0.control.urgency >= 4000 } })
      for (index, rig) in rigs.enumerated() { heard[index] += rig.render(4000, cuts: [256], isFilled: false) }
    }
    for (index, output) in heard.enumerated() {
      #expect(rigs[index].control.state.underruns == 0)
      let isLooped = index % 3 == 0
      let isRight = output.indices.allSatisfy { at in
        let frame = index * 4000 + at - index
        let isInside = at >= index && (isLooped || frame < frames)
        return output[at] == (isInside ? samples[2 * (frame % frames)] : 0)
      }
      #expect(isRight, "player \(index)")
    }
  }
}
