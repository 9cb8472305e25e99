import BacklineEngine
import BacklineMedia
import BacklineOffline
import BacklineTestSupport
import Foundation
import Testing

/// R12 at moments that nobody has chosen: whatever ends a rendering, what has the final name is whole.
@Suite("backline render: ended at any moment")
struct RenderInterruptionTests {
  static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"
  private static let frames = 96_000
  private static let rounds = isLong ? 400 : 16

  private let folder = RenderFolder()
  private let input: String
  private let preset: String

  init() throws {
    input = folder.write("in.wav", Signals.sine(330, frames: Self.frames, amplitude: 0.4).flatMap { [$0, -$0] })
    preset = try folder.preset("chain.json", [("equalizer", [:]), ("reverb", [:])])
  }

  /// The time in seconds that a rendering takes here and now.
  private func timeOfWhole() throws -> Double {
    let begin = Date()
    #expect(try folder.render(input, folder.file("whole.wav"), "--preset", preset).status == 0)
    return Date().timeIntervalSince(begin)
  }

  private func start() throws -> ProcessRunner {
    let runner = try ProcessRunner(
      try BuiltProgram.backline(), ["render", input, folder.file("out.wav"), "--preset", preset, "--quiet"])
    runner.closeInput()
    return runner
  }

  /// Sees that the output is whole or not there, and takes it away; true where it was there.
  private func isThereAndWhole(_ whole: [Float]) throws -> Bool {
    guard folder.names.contains("out.wav") else { return false }
    #expect(try folder.read(folder.file("out.wav")) == whole)
    unlink(folder.file("out.wav"))
    return true
  }

  /// Sends a signal to many renderings, each at another moment from the very start to a little beyond the end, and has looked at
  /// what came of each: its status, and whether the output is there, and whole.
  private func cut(by signal: Int32, _ check: (_ round: Int, _ status: Int32, _ isThere: Bool) -> Void) throws {
    let time = try timeOfWhole()
    let whole = try folder.read(folder.file("whole.wav"))
    unlink(folder.file("whole.wav"))
    for round in 0..<Self.rounds {
      let runner = try start()
      usleep(UInt32(Double.random(in: 0...1.2) * time * 1e6))
      runner.send(signal)
      let status = try runner.wait(30).status
      check(round, status, try isThereAndWhole(whole))
    }
  }

  @Test("killed at random moments, it leaves nothing under the final name or all of it, and the next run sweeps up")
  func killedAnywhere() throws {
    try cut(by: SIGKILL) { round, status, isThere in
      #expect(status == 128 + SIGKILL || status == 0, "round \(round)")
      #expect(status != 0 || isThere, "round \(round)")
    }
    #expect(try folder.render(input, folder.file("out.wav"), "--preset", preset).status == 0)
    unlink(folder.file("out.wav"))
    #expect(folder.names == ["chain.json", "in.wav"])
  }

  @Test("interrupted at random moments, it ends with 130 and nothing, or had completed")
  func interruptedAnywhere() throws {
    try cut(by: SIGINT) { round, status, isThere in
      // Before its first instruction the signal's own action ends it, with the same number.
      #expect(status == 130 || status == 0, "round \(round): \(status)")
      #expect(isThere == (status == 0), "round \(round)")
      #expect(folder.names == ["chain.json", "in.wav"], "round \(round)")
    }
  }

  @Test("a task that is cancelled at random moments ends with nothing, or had completed")
  func cancelledAnywhere() async throws {
    let path = folder.file("out.wav")
    for round in 0..<Self.rounds {
      let source = try FileSource(path: input)
      let output = FileDestination(path: path, container: .wav, sampleFormat: .float32)
      let task = Task { await OfflineRenderer(OfflineJob(source: source, destination: output)).run() }
      try await Task.sleep(nanoseconds: UInt64.random(in: 0...20_000_000))
      task.cancel()
      switch await task.value {
      case .completed(let report):
        #expect(report.frames == Int64(Self.frames))
        #expect(try folder.read(path).count == 2 * Self.frames)
        unlink(path)
      case .cancelled: break
      case .failed(let error): Issue.record("round \(round): \(error.message)")
      }
      #expect(folder.names == ["chain.json", "in.wav"], "round \(round)")
    }
  }
}
