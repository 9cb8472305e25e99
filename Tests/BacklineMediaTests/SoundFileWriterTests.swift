import CSndFile
import Foundation
import Testing

@testable import BacklineMedia

@Suite("Sound file writer")
struct SoundFileWriterTests {
  /// Every container with every sample format that it has.
  static let losslessKinds: [(SoundContainer, SampleFormat)] = SoundContainer.allCases.flatMap { container in
    container.sampleFormats.map { (container, $0) }
  }
  static let lossyKinds = SoundContainer.allCases.filter(\.isLossy)

  private func write(
    _ path: String, _ encoding: SoundFileEncoding, _ samples: [Float], pieces: [Int] = [8192], expected: Bool = true,
    metadata: SoundFileMetadata = SoundFileMetadata()
  ) throws -> (clipped: Int64, missing: [String]) {
    let staged = try StagedFile(path, replacing: true)
    let frames = samples.count / encoding.channelCount
    let writer = try SoundFileWriter(
      descriptor: staged.descriptor, path: path, encoding: encoding, metadata: metadata,
      expectedFrames: expected ? Int64(frames) : nil)
    var position = 0, turn = 0
    while position < frames {
      let count = min(pieces[turn % pieces.count], frames - position)
      try samples.withUnsafeBufferPointer { buffer in
        try writer.write(#require(buffer.baseAddress) + position * encoding.channelCount, frames: count)
      }
      position += count
      turn += 1
    }
    try writer.finish()
    var missing: [String] = []
    try staged.publish { path throws(SoundFileWriteError) in missing = try writer.verify(path) }
    return (writer.clippedCount, missing)
  }

  private func read(_ path: String) throws -> [Float] {
    let reader = try SoundFileReader(path: path)
    var samples = [Float](repeating: .nan, count: Int(reader.format.frameCount) * reader.format.channelCount)
    var done = 0
    while done < Int(reader.format.frameCount) {
      done += try samples.withUnsafeMutableBufferPointer { buffer in
        try reader.read(
          at: Int64(done), into: #require(buffer.baseAddress) + done * reader.format.channelCount, count: 100_000)
      }
    }
    return samples
  }

  @Test("every lossless format gives back what fits into it, sample for sample", arguments: losslessKinds)
  func lossless(kind: (container: SoundContainer, format: SampleFormat)) throws {
    let fixtures = SoundFixtures()
    for (channels, frames) in [(1, 1), (2, 20_000), (6, 3000)] {
      let path = fixtures.path("a.\(kind.container.rawValue)")
      let samples = SoundFixtures.coded(frames, channels: channels)
      let encoding = try SoundFileEncoding(
        kind.container, sampleFormat: kind.format, sampleRate: 44_100, channelCount: channels)
      let outcome = try write(path, encoding, samples, pieces: [1, 1000, 8192, 77])
      #expect(outcome.clipped == 0)
      #expect(try read(path) == samples)
      let reader = try SoundFileReader(path: path)
      #expect(reader.format.sampleRate == 44_100 && reader.sampleFormat == kind.format)
    }
    #expect(fixtures.openDescriptors == 0)
  }

  @Test("lossy formats have their exact length", arguments: lossyKinds)
  func lossy(container: SoundContainer) throws {
    let fixtures = SoundFixtures()
    for frames in [1, 1000, 48_000, 50_001] {
      let path = fixtures.path("\(frames).\(container.rawValue)")
      let encoding = try SoundFileEncoding(container, sampleRate: 48_000, channelCount: 2)
      _ = try write(path, encoding, SoundFixtures.sine(440, frames: frames), pieces: [20_000])
      #expect(try SoundFileReader(path: path).format.frameCount == Int64(frames))
    }
  }

  @Test("the same sound in other pieces makes the same bytes, dither and all")
  func pieces() throws {
    let fixtures = SoundFixtures()
    let samples = SoundFixtures.sine(441, frames: 9000)
    for format in [SampleFormat.int16, .int24] {
      let encoding = try SoundFileEncoding(.wav, sampleFormat: format, sampleRate: 48_000, channelCount: 2)
      _ = try write(fixtures.path("a.wav"), encoding, samples)
      _ = try write(fixtures.path("b.wav"), encoding, samples, pieces: [1, 2, 3, 8192])
      #expect(FileManager.default.contentsEqual(atPath: fixtures.path("a.wav"), andPath: fixtures.path("b.wav")))
    }
  }

  @Test("dither of 16 bits leaves no distortion: the error is white, free of bias and of the expected power")
  func dither() throws {
    let fixtures = SoundFixtures()
    let frames = 60_000
    // A tone of a third of a step: without dither nothing of it would be left.
    let samples = SoundFixtures.sine(1000, frames: frames, channels: 1).map { $0 * 2 / 3 / 32_768 }
    let encoding = try SoundFileEncoding(.wav, sampleFormat: .int16, sampleRate: 48_000, channelCount: 1)
    _ = try write(fixtures.path("a.wav"), encoding, samples)
    let found = try read(fixtures.path("a.wav"))
    let errors = zip(found, samples).map { (Double($0) - Double($1)) * 32_768 }
    let mean = errors.reduce(0, +) / Double(frames)
    let power = errors.reduce(0) { $0 + $1 * $1 } / Double(frames)
    let neighbours = zip(errors, errors.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / Double(frames)
    let likeness = zip(found, samples).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    let size = samples.reduce(0) { $0 + Double($1) * Double($1) }
    #expect(abs(mean) < 0.02)
    // Triangular noise of a sixth and rounding of a twelfth of a step squared.
    #expect(abs(power - 0.25) < 0.02)
    #expect(abs(neighbours) < 0.01)
    #expect(abs(likeness / size - 1) < 0.1)
  }

  @Test("silence stays silence, full scale fits, and what is louder is clipped and counted")
  func edges() throws {
    let fixtures = SoundFixtures()
    let encoding = try SoundFileEncoding(.wav, sampleFormat: .int16, sampleRate: 48_000, channelCount: 1)
    let outcome = try write(fixtures.path("a.wav"), encoding, [0, 1, -1, 1.5, -2, 0, 3e38])
    #expect(outcome.clipped == 3)
    let top: Float = 32_767 / 32_768
    #expect(try read(fixtures.path("a.wav")) == [0, top, -1, top, -1, 0, top])
    let floats = try SoundFileEncoding(.wav, sampleFormat: .float32, sampleRate: 48_000, channelCount: 1)
    #expect(try write(fixtures.path("b.wav"), floats, [3, -4e30]).clipped == 0)
    #expect(try read(fixtures.path("b.wav")) == [3, -4e30])
  }

  @Test("no channel is taken for a loudspeaker that nobody has named", arguments: [SoundContainer.rf64, .w64, .wav])
  func channelMask(container: SoundContainer) throws {
    let fixtures = SoundFixtures()
    for channels in [3, 4, 6, 8] {
      let path = fixtures.path("\(channels).\(container.rawValue)")
      let encoding = try SoundFileEncoding(
        container, sampleFormat: .float32, sampleRate: 48_000, channelCount: channels)
      _ = try write(path, encoding, SoundFixtures.coded(100, channels: channels), expected: false)
      var info = SF_INFO()
      let file = try #require(sf_open(path, Int32(SFM_READ), &info))
      var map = [Int32](repeating: 0, count: channels)
      #expect(sf_command(file, Int32(SFC_GET_CHANNEL_MAP_INFO), &map, Int32(4 * channels)) == 0)
      sf_close(file)
    }
  }

  @Test("a WAV file whose length was not known is plain RIFF as long as it fits")
  func unknownLength() throws {
    let fixtures = SoundFixtures()
    let encoding = try SoundFileEncoding(.wav, sampleFormat: .float32, sampleRate: 48_000, channelCount: 2)
    _ = try write(fixtures.path("a.wav"), encoding, SoundFixtures.coded(1000), expected: false)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: fixtures.path("a.wav")))
    #expect(bytes.prefix(4) == Data("RIFF".utf8))
    #expect(try read(fixtures.path("a.wav")) == SoundFixtures.coded(1000))
  }

  @Test("what a format cannot hold is refused before anything is made")
  func refusals() throws {
    func refuses(_ container: SoundContainer, _ format: SampleFormat? = nil, rate: Int = 48_000, channels: Int = 2) {
      #expect(throws: SoundFileWriteError.self) {
        _ = try SoundFileEncoding(container, sampleFormat: format, sampleRate: rate, channelCount: channels)
      }
    }
    refuses(.flac, .float32)
    refuses(.flac, .int32)
    refuses(.mp3, .int16)
    refuses(.opus, .float32)
    refuses(.opus, rate: 44_100)
    refuses(.mp3, rate: 96_000)
    refuses(.mp3, channels: 3)
    refuses(.flac, channels: 9)
    refuses(.flac, rate: 768_000)
    refuses(.wav, rate: 0)
    refuses(.wav, rate: -1)
    refuses(.wav, rate: 10_000_000)
    refuses(.wav, channels: 0)
    refuses(.wav, channels: 33)
    #expect(
      try SoundFileEncoding(.flac, preferring: .float32, sampleRate: 48_000, channelCount: 2).sampleFormat == .int24)
    #expect(try SoundFileEncoding(.wav, preferring: .int16, sampleRate: 48_000, channelCount: 2).sampleFormat == .int16)
    #expect(try SoundFileEncoding(.wav, sampleRate: 48_000, channelCount: 2).sampleFormat == .float32)
  }

  @Test("a disk that fills up is an error whenever it comes, at the very close too", arguments: SoundContainer.allCases)
  func fullDisk(container: SoundContainer) throws {
    let fixtures = SoundFixtures()
    let encoding = try SoundFileEncoding(container, sampleRate: 48_000, channelCount: 2)
    let samples = SoundFixtures.sine(440, frames: 20_000)
    let whole = fixtures.path("whole")
    _ = try write(whole, encoding, samples)
    let size = try #require(try FileManager.default.attributesOfItem(atPath: whole)[.size] as? Int64)
    for offset in [0, 10, size / 2, size - 1] {
      let path = fixtures.path("full")
      let staged = try StagedFile(path, replacing: false)
      let error = #expect(throws: SoundFileWriteError.self) {
        let writer = try SoundFileWriter(
          descriptor: staged.descriptor, path: path, encoding: encoding, expectedFrames: 20_000)
        writer.failWriting(from: offset)
        try samples.withUnsafeBufferPointer { try writer.write(#require($0.baseAddress), frames: 20_000) }
        try writer.finish()
      }
      #expect(error == .failed(path: path, code: ENOSPC))
      staged.discard()
      #expect(try FileManager.default.contentsOfDirectory(atPath: fixtures.folder) == ["whole"])
    }
  }

  @Test("a file that is not what was written is not verified")
  func verification() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.path("a.wav")
    let encoding = try SoundFileEncoding(.wav, sampleFormat: .int16, sampleRate: 48_000, channelCount: 2)
    let samples = SoundFixtures.coded(5000)
    for damage in [44, 44 + 4 * 4999, 24, 40] {
      let staged = try StagedFile(path, replacing: false)
      let writer = try SoundFileWriter(
        descriptor: staged.descriptor, path: path, encoding: encoding, expectedFrames: 5000)
      try samples.withUnsafeBufferPointer { try writer.write(#require($0.baseAddress), frames: 5000) }
      try writer.finish()
      var byte: UInt8 = 0x7F
      #expect(pwrite(staged.descriptor, &byte, 1, off_t(damage)) == 1)
      #expect(throws: SoundFileWriteError.self) {
        try staged.publish { path throws(SoundFileWriteError) in _ = try writer.verify(path) }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: fixtures.folder) == [])
    }
  }

  @Test("texts, broadcast information and markers are carried over, or named where they cannot be")
  func metadata() throws {
    let fixtures = SoundFixtures()
    var metadata = SoundFileMetadata()
    metadata.setTitle("Take 7")
    metadata.markers = [.init(frame: 10, name: "verse"), .init(frame: 900, name: "chorus")]
    let wav = try SoundFileEncoding(.wav, sampleRate: 48_000, channelCount: 2)
    let samples = SoundFixtures.coded(1000)
    #expect(try write(fixtures.path("a.wav"), wav, samples, metadata: metadata).missing == [])
    let found = try SoundFileReader(path: fixtures.path("a.wav")).metadata()
    #expect(found.texts.map(\.text) == ["Take 7"])
    #expect(found.markers.map(\.frame) == [10, 900])
    let half = found.converted(from: 48_000, to: 24_000)
    #expect(half.markers.map(\.frame) == [5, 450])
    let flac = try SoundFileEncoding(.flac, sampleRate: 48_000, channelCount: 2)
    #expect(try write(fixtures.path("a.flac"), flac, samples, metadata: found).missing == ["markers"])
    #expect(try SoundFileReader(path: fixtures.path("a.flac")).metadata().texts.map(\.text) == ["Take 7"])
    let w64 = try SoundFileEncoding(.w64, sampleRate: 48_000, channelCount: 2)
    #expect(try write(fixtures.path("a.w64"), w64, samples, metadata: found).missing.sorted() == ["markers", "title"])
  }
}
