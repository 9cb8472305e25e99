import BacklineMedia
import BacklineTestSupport
import CSndFile
import Testing

@Suite("Rate conversion")
struct RateConverterTests {
  static let rates = [
    (44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (44_101, 48_000), (8000, 48_000), (192_000, 44_100),
    (11_025, 96_000), (48_000, 8000),
  ]

  private func convert(_ samples: [Float], from inputRate: Int, to outputRate: Int, pieces: [Int]) throws -> [Float] {
    var converter = try RateConverter(inputRate: inputRate, outputRate: outputRate, channelCount: 2)
    var result: [Float] = []
    var output = [Float](repeating: 0, count: 2 * 5000)
    var at = 0
    var piece = 0
    while at < samples.count / 2 {
      let count = min(pieces[piece % pieces.count], samples.count / 2 - at)
      piece += 1
      let input = Array(samples[2 * at..<2 * (at + count)])
      let made = try converter.process(input, count: count, into: &output, capacity: 5000)
      at += made.consumed
      result += output.prefix(2 * made.produced)
    }
    while case let count = try converter.finish(into: &output, capacity: 5000), count > 0 {
      result += output.prefix(2 * count)
    }
    return result
  }

  @Test("the length is N x out / in to the nearest frame, halves up, for any number of frames")
  func lengths() {
    for (frames, input, output, expected) in [
      (44_100, 44_100, 48_000, 48_000), (1, 44_100, 48_000, 1), (1, 96_000, 48_000, 1), (3, 96_000, 48_000, 2),
      (0, 44_100, 48_000, 0), (200_000, 192_000, 44_100, 45_938), (200_000, 44_100, 48_000, 217_687),
    ] as [(Int64, Int, Int, Int64)] {
      #expect(RateConverter.convertedLength(of: frames, from: input, to: output) == expected)
    }
    #expect(RateConverter.convertedLength(of: 1 << 61, from: 48_000, to: 96_000) == 1 << 62)
    #expect(RateConverter.convertedLength(of: .max, from: 1000, to: 768_000) == .max)
  }

  @Test("a stream gives the same samples in whatever pieces it comes, and exactly its length", arguments: rates)
  func pieces(inputRate: Int, outputRate: Int) throws {
    let input = Signals.noise(frames: 2 * 30_001)
    let expected = try convert(input, from: inputRate, to: outputRate, pieces: [30_001])
    #expect(
      Int64(expected.count / 2) == RateConverter.convertedLength(of: 30_001, from: inputRate, to: outputRate))
    for pieces in [[1000], [7, 4000, 333]] {
      #expect(try convert(input, from: inputRate, to: outputRate, pieces: pieces) == expected)
    }
  }

  @Test("nonsense is refused")
  func nonsense() {
    #expect(throws: RateConversionError.self) {
      _ = try RateConverter(inputRate: 0, outputRate: 48_000, channelCount: 2)
    }
  }

  @Test("a converted file reads the same to the bit from anywhere, and as one conversion does", arguments: rates)
  func converted(inputRate: Int, outputRate: Int) throws {
    let fixtures = SoundFixtures()
    let frames = inputRate * 2 + 17
    let samples = Signals.noise(frames: 2 * frames, amplitude: 0.5)
    let path = fixtures.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: inputRate, samples)
    let file = try ConvertedSound(SoundFileReader(path: path), sampleRate: outputRate)
    let length = Int(file.frameCount)
    #expect(file.frameCount == RateConverter.convertedLength(of: Int64(frames), from: inputRate, to: outputRate))
    var whole = [Float](repeating: 0, count: 2 * length)
    #expect(try file.read(at: 0, into: &whole, count: length) == length)
    for start in [0, 1, length / 2, length - 1000, 12_345 % length, length / 3] {
      var part = [Float](repeating: 0, count: 2000)
      let other = try ConvertedSound(SoundFileReader(path: path), sampleRate: outputRate)
      let read = try other.read(at: Int64(start), into: &part, count: 1000)
      #expect(part.prefix(2 * read) == whole[2 * start..<2 * (start + read)])
    }
    let once = try convert(samples, from: inputRate, to: outputRate, pieces: [10_000])
    #expect(once.count == whole.count)
    #expect(Signals.peak(zip(once, whole).map { $0 - $1 }) < 1e-6)
  }

  @Test("a tone keeps its pitch and level at another rate")
  func pitch() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.write(
      "a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 44_100,
      SoundFixtures.sine(1000, frames: 88_200, rate: 44_100))
    let file = try ConvertedSound(SoundFileReader(path: path), sampleRate: 48_000)
    #expect(file.frameCount == 96_000)
    var samples = [Float](repeating: 0, count: 2 * 96_000)
    _ = try file.read(at: 0, into: &samples, count: 96_000)
    let left = (24_000..<72_000).map { samples[2 * $0] }
    #expect(abs(Signals.amplitude(of: 1000, in: left) - 0.5) < 1e-4)
    #expect(Signals.amplitude(of: 1010, in: left) < 1e-4)
  }

  @Test("only the channels asked for are converted")
  func channelLimit() throws {
    let fixtures = SoundFixtures()
    for rate in [48_000, 44_100] {
      let samples = (0..<48_000 * 6).map { Float($0 % 6) / 10 }
      let path = fixtures.write("6.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, channels: 6, rate: rate, samples)
      let file = try ConvertedSound(SoundFileReader(path: path), sampleRate: 48_000, channelLimit: 2)
      var output = [Float](repeating: 0, count: 2 * 1000)
      #expect(file.channelCount == 2)
      #expect(try file.read(at: 20_000, into: &output, count: 1000) == 1000)
      for frame in 0..<1000 { #expect(abs(output[2 * frame]) < 1e-6 && abs(output[2 * frame + 1] - 0.1) < 1e-6) }
    }
  }
}
