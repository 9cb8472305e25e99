import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineRealtime
import BacklineTestSupport
import CBackline
import CSndFile
import Foundation
import Synchronization
import Testing

@Suite("Impulse responses from files")
struct ImpulseResponseFileTests {
  private let float = SF_FORMAT_WAV | SF_FORMAT_FLOAT

  private func load(_ path: String, rate: Int = 48_000) -> Result<ImpulseResponse, EngineError> {
    do throws(EngineError) {
      return .success(try ImpulseResponse.load(path: path, sampleRate: rate).response)
    } catch {
      return .failure(error)
    }
  }

  private func message(_ path: String) -> String {
    if case .failure(let error) = load(path) { return error.message }
    return "loaded"
  }

  @Test("a file at the engine's rate is the response, channel by channel", arguments: [1, 2, 4])
  func channels(count: Int) throws {
    let fixtures = SoundFixtures()
    let samples = Signals.noise(frames: 300 * count)
    let path = fixtures.write("response.wav", format: float, channels: count, samples)
    let response = try load(path).get()
    #expect(response.channels.count == count && response.frameCount == 300)
    for channel in 0..<count {
      #expect(response.channels[channel] == (0..<300).map { samples[$0 * count + channel] })
    }
  }

  @Test("at another rate a response is converted and keeps its gain", arguments: [44_100, 96_000])
  func rate(rate: Int) throws {
    let fixtures = SoundFixtures()
    // A smooth low-pass: its gain at 0 Hz is the sum.
    let samples = (0..<2000).map { i in Float(0.01 * backline_exp(-0.5 * Double((i - 600) * (i - 600)) / 10_000)) }
    let response = try load(fixtures.write("low.wav", format: float, channels: 1, samples), rate: rate).get()
    let expected = samples.reduce(0, +), found = response.channels[0].reduce(0, +)
    #expect(abs(found / expected - 1) < 1e-3)
    #expect(response.frameCount == 2000 * rate / 48_000 || response.frameCount == 2000 * rate / 48_000 + 1)
  }

  @Test("what is missing, empty, too long, of the wrong channels or not finite is refused in words")
  func refusals() {
    let fixtures = SoundFixtures()
    #expect(message(fixtures.path("none.wav")).contains("there is no file"))
    #expect(message(fixtures.write("empty.wav", format: float, channels: 1, [])) != "loaded")
    for count in [3, 33] {
      let wrong = fixtures.write(
        "wrong\(count).wav", format: float, channels: count, [Float](repeating: 0.1, count: 100 * count))
      #expect(message(wrong).contains(count == 3 ? "1 channel, 2 or 4" : "33"), "\(message(wrong))")
    }
    let broken = fixtures.write("nan.wav", format: float, channels: 1, [0.5, .nan, 0.25])
    #expect(message(broken).contains("finite"))
    let long = fixtures.write(
      "long.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, channels: 1, [Float](repeating: 0, count: (1 << 21) + 1))
    #expect(message(long).contains("at most 2097152 frames"))
    #expect(message(fixtures.write("text.wav", bytes: Data("no sound".utf8))) != "loaded")
  }

  @Test("the media service gives a convolver its response, and a bad file leaves the last one in place")
  func service() throws {
    let fixtures = SoundFixtures()
    let good = fixtures.write("good.wav", format: float, channels: 1, [0, 0, 0.5])
    let bad = fixtures.write("bad.wav", format: float, channels: 1, [.infinity])
    let media = MediaService.synchronous { _, _ in }
    let unit = UnitHarness(Convolver.description)
    let control = try #require(unit.instance.control as? ConvolverControl)
    let answers = Mutex<[String]>([])
    for path in [good, bad, fixtures.path("none.wav")] {
      media.load(path, into: control) { result in
        answers.withLock {
          switch result {
          case .success(let file): $0.append("\(file.frameCount)")
          case .failure: $0.append("refused")
          }
        }
      }
    }
    #expect(answers.withLock { $0 } == ["3", "refused", "refused"])
    let output = unit.render([[Signals.impulse(frames: 10), []]])[0][0]
    #expect(output[2] == 0.5 && output[..<2].allSatisfy { $0 == 0 })
    media.unload(control)
    #expect(control.frameCount == nil)
    media.shutdown()
  }
}
