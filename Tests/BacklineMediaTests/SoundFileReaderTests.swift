import BacklineEngine
import BacklineMedia
import CSndFile
import Foundation
import Testing

@Suite("Sound file reader")
struct SoundFileReaderTests {
  static let lossless: [(name: String, format: Int)] = [
    ("pcm16.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16), ("pcm24.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24),
    ("float.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT), ("double.wav", SF_FORMAT_WAV | SF_FORMAT_DOUBLE),
    ("extensible.wav", SF_FORMAT_WAVEX | SF_FORMAT_PCM_16), ("pcm16.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16),
    ("float.aiff", SF_FORMAT_AIFF | SF_FORMAT_FLOAT), ("pcm16.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16),
    ("pcm24.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24), ("float.caf", SF_FORMAT_CAF | SF_FORMAT_FLOAT),
    ("alac.caf", SF_FORMAT_CAF | SF_FORMAT_ALAC_16), ("pcm32.w64", SF_FORMAT_W64 | SF_FORMAT_PCM_32),
    ("float.rf64", SF_FORMAT_RF64 | SF_FORMAT_FLOAT), ("pcm16.au", SF_FORMAT_AU | SF_FORMAT_PCM_16),
  ]
  static let lossy: [(name: String, format: Int)] = [
    ("a.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS), ("a.opus", SF_FORMAT_OGG | SF_FORMAT_OPUS),
    ("a.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III),
  ]

  private func read(_ reader: SoundFileReader, at frame: Int64, _ count: Int) throws -> [Float] {
    var samples = [Float](repeating: .nan, count: count * reader.format.channelCount)
    var done = 0
    while done < count {
      let read = try samples.withUnsafeMutableBufferPointer { buffer in
        try reader.read(
          at: frame + Int64(done), into: #require(buffer.baseAddress) + done * reader.format.channelCount,
          count: count - done)
      }
      if read == 0 { break }
      done += read
    }
    return Array(samples.prefix(done * reader.format.channelCount))
  }

  @Test("every lossless format is read sample for sample, in passing and after seeks", arguments: lossless)
  func readsLossless(file: (name: String, format: Int)) throws {
    let fixtures = SoundFixtures()
    let samples = SoundFixtures.coded(50_000)
    let reader = try SoundFileReader(path: fixtures.write(file.name, format: file.format, samples))
    #expect(reader.format.frameCount == 50_000)
    #expect(reader.format.channelCount == 2 && reader.format.sampleRate == 48_000)
    #expect(!reader.format.name.contains("unknown"))
    #expect(try read(reader, at: 0, 50_000) == samples)
    for frame in [12_345, 49_999, 1, 0, 30_000, 50_000] {
      let count = min(5000, 50_000 - frame)
      #expect(try read(reader, at: Int64(frame), 5000) == Array(samples[2 * frame..<2 * (frame + count)]))
    }
  }

  @Test("lossy formats have their exact length, and a seek gives the same bits as reading on", arguments: lossy)
  func readsLossy(file: (name: String, format: Int)) throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write(file.name, format: file.format, SoundFixtures.sine(440, frames: 200_000))
    let reader = try SoundFileReader(path: path)
    #expect(reader.format.frameCount == 200_000)
    let whole = try read(reader, at: 0, 200_000)
    #expect(whole.count == 400_000)
    for frame in [77_777, 1, 150_001, 50_001, 199_990, 123_456, 0, 16_000] {
      let again = try read(reader, at: Int64(frame), 3000)
      #expect(again == Array(whole[2 * frame..<min(400_000, 2 * frame + 6000)]))
    }
  }

  @Test("1 to 32 channels are read, 33 are refused")
  func channels() throws {
    let fixtures = SoundFixtures()
    let format = SF_FORMAT_WAV | SF_FORMAT_FLOAT
    for count in [1, 3, 6, 32] {
      let samples = SoundFixtures.coded(100, channels: count)
      let path = fixtures.write("\(count).wav", format: format, channels: count, samples)
      #expect(try read(SoundFileReader(path: path), at: 0, 100) == samples)
    }
    let tooMany = fixtures.write(
      "33.wav", format: format, channels: 33, SoundFixtures.coded(100, channels: 33))
    let error = #expect(throws: SoundFileError.self) { _ = try SoundFileReader(path: tooMany) }
    guard case .unsupported(tooMany, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("what is not there or no regular file has its own error at once, and no descriptor stays open")
  func noFile() throws {
    let fixtures = SoundFixtures()
    let pipe = fixtures.path("pipe.wav")
    #expect(mkfifo(pipe, 0o600) == 0)
    let missing = fixtures.path("missing.wav")
    for _ in 0..<50 {
      #expect(throws: SoundFileError.notFound(path: missing)) { _ = try SoundFileReader(path: missing) }
      #expect(throws: SoundFileError.notAFile(path: pipe)) { _ = try SoundFileReader(path: pipe) }
      #expect(throws: SoundFileError.notAFile(path: fixtures.folder)) {
        _ = try SoundFileReader(path: fixtures.folder)
      }
      #expect(throws: SoundFileError.notAFile(path: "/dev/zero")) { _ = try SoundFileReader(path: "/dev/zero") }
      #expect(throws: SoundFileError.notFound(path: "a\0b")) { _ = try SoundFileReader(path: "a\0b") }
      let text = fixtures.write("text.wav", bytes: Data("This is no sound, whatever its name says.".utf8))
      let empty = fixtures.write("empty.wav", bytes: Data())
      for path in [text, empty] {
        #expect(throws: SoundFileError.self) { _ = try SoundFileReader(path: path) }
      }
    }
    #expect(fixtures.openDescriptors == 0)
    #expect(EngineError(SoundFileError.notFound(path: missing)).code == .notFound)
    #expect(EngineError(SoundFileError.notAFile(path: pipe)).code == .ioError)
  }

  @Test("a file that has been cut off is broken: at opening, or where its packets end")
  func truncated() throws {
    let fixtures = SoundFixtures()
    for (name, format) in Self.lossless + Self.lossy {
      let whole = fixtures.write(name, format: format, SoundFixtures.sine(440, frames: 100_000))
      let path = fixtures.truncated(whole)
      let error = #expect(throws: SoundFileError.self, "\(name)") {
        let reader = try SoundFileReader(path: path)
        let frames = reader.format.frameCount
        if frames == 100_000 { _ = try read(reader, at: 0, 100_000) }
      }
      guard case .broken(path, let frame, _) = error, frame < 100_000 else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
    }
    #expect(fixtures.openDescriptors == 0)
  }

  @Test("any prefix of a header is refused or read, and never worse")
  func shortHeaders() throws {
    let fixtures = SoundFixtures()
    for (name, format) in Self.lossless {
      let bytes = try #require(
        FileManager.default.contents(atPath: fixtures.write(name, format: format, SoundFixtures.coded(20))))
      for length in 0..<min(120, bytes.count - 1) {
        let path = fixtures.write("short-" + name, bytes: bytes.prefix(length))
        #expect(throws: SoundFileError.self, "\(name) \(length)") {
          let reader = try SoundFileReader(path: path)
          if try read(reader, at: 0, 20).count < 40 { throw SoundFileError.notAFile(path: "no frames") }
        }
      }
    }
  }

  @Test("a WAV whose writer did not know its length goes as far as it goes")
  func openLength() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, SoundFixtures.coded(1000))
    var bytes = try #require(FileManager.default.contents(atPath: path))
    bytes.replaceSubrange(40..<44, with: [0xFF, 0xFF, 0xFF, 0xFF])
    let reader = try SoundFileReader(path: fixtures.write("open.wav", bytes: bytes))
    #expect(reader.format.frameCount == 1000)
  }

  @Test("samples that are not finite are read as silence and counted")
  func nonFinite() throws {
    let fixtures = SoundFixtures()
    var samples = SoundFixtures.coded(1000)
    for (index, value) in [(10, Float.nan), (11, .infinity), (500, -.infinity)] { samples[index] = value }
    let path = fixtures.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, samples)
    let reader = try SoundFileReader(path: path)
    for index in [10, 11, 500] { samples[index] = 0 }
    #expect(try read(reader, at: 0, 1000) == samples)
    #expect(reader.nonFiniteCount == 3)
  }
}
