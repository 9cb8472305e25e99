import Backline
import BacklineTestSupport
import Testing

@Suite("Sound files and buffers of the library")
struct FileTests {
  @Test("what is written is read again, in every kind of file and sample")
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    let samples = Signals.noise(frames: 10_000, amplitude: 0.9)
    for container in AudioFileFormat.Container.allCases {
      // Lossy ones keep no samples to be compared, and some have rates of their own.
      for encoding in container.isLossy ? [nil] : AudioFileFormat.Encoding.allCases.map(Optional.some) {
        let path = folder.file("a.\(container.rawValue)")
        let format = AudioFileFormat(container: container, encoding: encoding, sampleRate: 44_100, channelCount: 2)
        guard let file = try? AudioFile(forWriting: path, format: format) else { continue }
        try file.write(from: Sounds.buffer(samples, sampleRate: 44_100))
        #expect(file.length == 10_000)
        try file.close()
        let back = try AudioFile(forReading: path, sampleType: .float64, isInterleaved: true)
        #expect(back.processingFormat.channelCount == 2 && back.processingFormat.sampleRate == 44_100)
        #expect(back.length == 10_000)
        guard let encoding else { continue }
        let buffer = try #require(PCMBuffer(format: back.processingFormat, frameCapacity: 10_000))
        back.framePosition = 5_000
        try back.read(into: buffer, frameCount: 100)
        // Rounding loses half a step, and the dither of 16 and 24 bits is below one.
        let step: Float = encoding == .int16 ? 1.5 / 32_768 : encoding == .int24 ? 1.5 / 8_388_608 : 1e-7
        #expect(buffer.frameLength == 100 && back.framePosition == 5_100)
        #expect((0..<100).allSatisfy { abs(buffer[$0, 1] - samples[5_000 + $0]) <= step })
        back.framePosition = 9_990
        try back.read(into: buffer)
        #expect(buffer.frameLength == 10)
        try back.read(into: buffer)
        #expect(buffer.frameLength == 0)
      }
    }
  }

  @Test("an existing file stays until its replacement is whole, and nothing is left of one that is not")
  func replaces() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("take.wav")
    try Sounds.write(Sounds.ramp(10), to: path)
    let format = AudioFileFormat(container: .wav, encoding: .int16, sampleRate: 48_000, channelCount: 2)
    let file = try AudioFile(forWriting: path, format: format)
    try file.write(from: Sounds.buffer(Sounds.ramp(20)))
    #expect(try AudioFile(forReading: path).length == 10)
    #expect(folder.names.count == 2)
    try file.close()
    try file.close()
    #expect(try AudioFile(forReading: path).length == 20)
    #expect(folder.names == ["take.wav"])
    #expect(code { try file.write(from: Sounds.buffer([1])) } == .fileFailed)
    // Nobody reads a FLAC file without a frame.
    let flac = AudioFileFormat(container: .flac, sampleRate: 48_000, channelCount: 2)
    let empty = try AudioFile(forWriting: folder.file("empty.flac"), format: flac)
    #expect(code { try empty.close() } == .fileFailed)
    #expect(folder.names == ["take.wav"])
  }

  @Test("what cannot be opened, read or written is an error that names the file")
  func refuses() throws {
    let folder = try TemporaryFolder()
    #expect(code { _ = try AudioFile(forReading: folder.file("none.wav")) } == .notFound)
    #expect(code { _ = try AudioFile(forReading: folder.path) } == .fileFailed)
    let format = AudioFileFormat(container: .wav, encoding: .int16, sampleRate: 48_000, channelCount: 2)
    #expect(code { _ = try AudioFile(forWriting: folder.file("no/such/folder.wav"), format: format) } == .fileFailed)
    #expect(code { _ = try AudioFile(forWriting: folder.path, format: format) } == .fileFailed)
    #expect(code { _ = try AudioFile(forWriting: "", format: format) } == .fileFailed)
    let odd = AudioFileFormat(container: .flac, encoding: .float32, sampleRate: 48_000, channelCount: 2)
    #expect(code { _ = try AudioFile(forWriting: folder.file("a.flac"), format: odd) } == .fileFailed)
    let file = try AudioFile(forWriting: folder.file("a.wav"), format: format)
    #expect(code { try file.write(from: Sounds.buffer([1], sampleRate: 44_100)) } == .formatMismatch)
    #expect(code { try file.write(from: Sounds.buffer([1], channels: 1)) } == .formatMismatch)
    let wrong = try #require(PCMBuffer(format: AudioFormat(sampleRate: 48_000, channelCount: 2), frameCapacity: 4))
    #expect(
      code { try file.read(into: wrong) } == .formatMismatch || code { try file.read(into: wrong) } == .fileFailed)
  }

  @Test("a buffer keeps to its bounds whatever is asked of it")
  func bounds() throws {
    let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
    for capacity in [0, -1, .max, 1 << 40] { #expect(PCMBuffer(format: format, frameCapacity: capacity) == nil) }
    #expect(PCMBuffer(format: AudioFormat(sampleRate: 48_000, channelCount: 0), frameCapacity: 4) == nil)
    for type in AudioFormat.SampleType.allCases {
      for isInterleaved in [false, true] {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2, sampleType: type, isInterleaved: isInterleaved)
        let buffer = try #require(PCMBuffer(format: format, frameCapacity: 4))
        buffer.frameLength = 99
        #expect(buffer.frameLength == 4)
        buffer[3, 1] = 0.5
        buffer[4, 1] = 1
        buffer[0, 2] = 1
        buffer[0, 0] = 2
        #expect(buffer[3, 1] == 0.5 && buffer[4, 1] == 0 && buffer[0, 2] == 0 && buffer[1, 0] == 0)
        #expect(buffer.copy()?.samples(ofChannel: 1) == [0, 0, 0, 0.5])
        #expect((buffer.floatChannelData != nil) == (type == .float32))
        buffer.frameLength = -5
        #expect(buffer.frameLength == 0)
      }
    }
  }

  @Test("times are worked out from a moment that is known both ways")
  func times() {
    let anchor = AudioTime(sampleTime: 48_000, sampleRate: 48_000, hostTime: 5_000_000_000)
    #expect(AudioTime(hostTime: 5_500_000_000).extrapolated(from: anchor)?.sampleTime == 72_000)
    #expect(AudioTime(sampleTime: 24_000, sampleRate: 48_000).extrapolated(from: anchor)?.hostTime == 4_500_000_000)
    #expect(AudioTime(hostTime: 1).extrapolated(from: AudioTime(hostTime: 2)) == nil)
  }
}
