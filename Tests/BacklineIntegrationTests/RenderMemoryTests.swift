import BacklineOffline
import BacklineTestSupport
import Foundation
import Testing

/// The memory of the program while it renders, as the kernel counts it.
@Suite("backline render: memory")
struct RenderMemoryTests {
  static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"
  /// What a rendering may take at most, in MiB, whatever its length.
  private static let limit = 24.0

  /// Renders through the chain of the standard workload and returns the largest memory in the first and in the last third
  /// of the time, in MiB.
  private func memory(_ arguments: [String], _ folder: RenderFolder) throws -> (
    early: Double, late: Double, most: Double
  ) {
    let preset = try folder.preset(
      "chain.json", [("gain", [:]), ("equalizer", [:]), ("compressor", [:]), ("delay", [:]), ("reverb", [:])])
    let runner = try ProcessRunner(
      try BuiltProgram.backline(), ["render"] + arguments + ["--preset", preset, "--quiet"])
    runner.closeInput()
    var found: [Double] = []
    var most = 0.0
    while let values = Self.memory(runner.id) {
      found.append(values.now)
      most = max(most, values.most)
      usleep(Self.isLong ? 100_000 : 500)
    }
    #expect(try runner.wait(60).status == 0)
    let third = max(1, found.count / 3)
    return (found.prefix(2 * third).max() ?? 0, found.suffix(third).max() ?? 0, most)
  }

  /// The resident memory of a process now and at most, without the pages of files, in MiB; `nil` when it has ended.
  private static func memory(_ id: pid_t) -> (now: Double, most: Double)? {
    guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return nil }
    func value(_ name: String) -> Double? {
      text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } }
        .map { $0 / 1024 }
    }
    guard let now = value("VmRSS"), let most = value("VmHWM") else { return nil }
    return (now, most)
  }

  @Test("ten hours take no more memory than their first minutes", .enabled(if: isLong))
  func tenHours() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", Signals.sine(440, frames: 48_000, amplitude: 0.5).flatMap { [$0, $0] })
    let output = folder.file("out.flac")
    let found = try memory([input, output, "--tail", "35999"], folder)
    print("ten hours: \(found.most) MiB at most, early \(found.early), late \(found.late)")
    #expect(found.late <= found.early + 1)
    #if !DEBUG
      #expect(found.most <= Self.limit)
    #endif
    #expect(try FileSource(path: output).frameCount == 36_000 * 48_000)
  }
}
