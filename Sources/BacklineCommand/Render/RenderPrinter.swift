import BacklineOffline
import BacklinePresets
import Glibc
import Synchronization

/// Tells how a rendering goes and has gone.
final class RenderPrinter: Sendable {
  private let context: CommandContext
  private let json: Bool
  private let quiet: Bool
  private let isToStandardOutput: Bool
  private let terminal: Terminal
  private let isDrawn = Mutex(false)

  init(_ context: CommandContext, json: Bool, quiet: Bool, isToStandardOutput: Bool) {
    self.context = context
    self.json = json
    self.quiet = quiet
    self.isToStandardOutput = isToStandardOutput
    terminal = Terminal(descriptor: STDERR_FILENO)
  }

  // MARK: Progress

  /// True on a terminal: on standard error, so that standard output stays for results.
  var showsProgress: Bool { terminal.isTerminal && !quiet && !json }

  func show(_ batch: RenderBatch) {
    if !showsProgress { return }
    let count = batch.tasks.count > 1 ? " \(batch.doneCount)/\(batch.tasks.count)" : ""
    let time = Self.timeLeft(batch.fraction, batch.seconds) + count
    let width = max(12, min(terminal.columns - 1, 78) - time.count - 1)
    let bar = batch.fraction.map { ProgressBar.line($0, width: width) } ?? "rendering"
    let isAgain = isDrawn.withLock { drawn in
      defer { drawn = true }
      return drawn
    }
    try? context.errors.write((isAgain ? "\r" : "") + bar + " " + time + "\u{1B}[K")
  }

  func endProgress() {
    if isDrawn.withLock({ $0 }) { try? context.errors.write("\r\u{1B}[K") }
  }

  /// `0:12 left`, by how long the part took that is done.
  static func timeLeft(_ fraction: Double?, _ seconds: Double) -> String {
    guard let fraction, fraction > 0.01 else { return "\(clock(seconds)) so far" }
    return "\(clock(seconds / fraction * (1 - fraction))) left"
  }

  private static func clock(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds.isFinite ? seconds : 0), 1e7).rounded(.up))
    let rest = whole % 60
    let minutes = whole / 60 % 60
    let two = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
    return whole >= 3600 ? "\(whole / 3600):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  // MARK: Results

  /// Tells how everything ended; returns the exit code, or throws it with what is to be said.
  func finish(_ outcomes: [RenderBatch.Outcome], isBatch: Bool, signal: Int32?) throws(CommandError) -> ExitCode {
    let code = Self.exitCode(outcomes, signal: signal)
    if json {
      try write(json: isBatch ? Self.summary(outcomes, code) : Self.object(outcomes[0], signal))
      return code
    }
    for outcome in outcomes {
      switch outcome.result {
      case .completed(let report):
        if !quiet { try write(Self.line(report, outcome.task)) }
        for warning in Self.warnings(report, outcome.task) where !quiet {
          try context.errors.write("backline: \(SafeText.line(warning))\n")
        }
      case .failed(let error):
        // Most errors name the file already.
        let name = isBatch && !error.message.contains(outcome.task.input) ? "\(outcome.task.input): " : ""
        try context.errors.write(CommandError(Self.exitCode(error), name + error.message).line)
      case .cancelled:
        if signal != nil && outcomes.count == 1 {
          try context.errors.write(CommandError(code, "cancelled: \(outcome.task.output) was not written").line)
        }
      }
    }
    if isBatch && outcomes.count > 1 && !quiet { try write(Self.summaryLine(outcomes)) }
    return code
  }

  /// Tells what was refused before anything began.
  func refuse(_ error: CommandError) throws(CommandError) -> ExitCode {
    try write(json: ["status": "failed", "error": .string(error.message)])
    return error.exitCode
  }

  private func write(_ text: String) throws(CommandError) {
    try isToStandardOutput ? context.errors.write(text) : context.write(text)
  }

  private func write(json value: JSONOutput) throws(CommandError) {
    try write(JSONWriter.write(value, style: .compact) + "\n")
  }

  // MARK: Words

  private static func line(_ report: OfflineReport, _ task: RenderTask) -> String {
    let seconds = Double(report.frames) / Double(max(1, report.sampleRate))
    var parts = ["\(ValueText.fixed(seconds, 3)) s", "\(report.frames) frames", "\(report.sampleRate) Hz"]
    parts.append(report.peakDecibels.map { "peak \(ValueText.fixed($0, 1)) dBFS" } ?? "silent")
    if let gain = report.destination.gain { parts.append("gain \(ValueText.fixed(gain, 2)) dB") }
    if report.tailReason != .none { parts.append("tail \(report.tailFrames) frames (\(report.tailReason.rawValue))") }
    parts.append("\(ValueText.fixed(report.realtimeFactor, 0))x real time")
    let name = task.output == "-" ? "standard output" : task.output
    return "\(SafeText.line(name)): \(parts.joined(separator: ", "))\n"
  }

  private static func warnings(_ report: OfflineReport, _ task: RenderTask) -> [String] {
    var warnings: [String] = []
    if report.destination.clippedSamples > 0 {
      warnings.append(
        "\(task.output): \(report.destination.clippedSamples) samples were too loud and have been clipped")
    }
    if report.nonFinite > 0 {
      warnings.append("\(task.output): \(report.nonFinite) samples were not finite and have been silenced")
    }
    if !report.destination.droppedMetadata.isEmpty {
      let names = report.destination.droppedMetadata.joined(separator: ", ")
      warnings.append("\(task.output): this kind of file does not hold \(names) of the input")
    }
    return warnings
  }

  private static func summaryLine(_ outcomes: [RenderBatch.Outcome]) -> String {
    let failed = outcomes.filter { if case .failed = $0.result { true } else { false } }
    let completed = outcomes.count { if case .completed = $0.result { true } else { false } }
    var line = "\(completed) of \(outcomes.count) files rendered"
    if !failed.isEmpty { line += ", failed: " + failed.map(\.task.input).joined(separator: ", ") }
    return SafeText.line(line) + "\n"
  }

  private static func object(_ outcome: RenderBatch.Outcome, _ signal: Int32?) -> JSONOutput {
    switch outcome.result {
    case .completed(let report):
      var object: [JSONOutput.Member] = [
        .init("status", "completed"), .init("frames", .integer(report.frames)),
        .init("rate", .integer(Int64(report.sampleRate))),
        .init("channels", .integer(Int64(report.channelCount))), .init("tail", .integer(report.tailFrames)),
        .init("tailReason", .string(report.tailReason.rawValue)),
        .init("latency", .integer(Int64(report.latencyFrames))),
        .init("peak", report.peakDecibels.map { .double($0) } ?? .null),
        .init("clipped", .integer(report.destination.clippedSamples)),
        .init("nonFinite", .integer(Int64(report.nonFinite))),
        .init("dropped", .array(report.destination.droppedMetadata.map { .string($0) })),
      ]
      if let gain = report.destination.gain { object.append(.init("gain", .double(gain))) }
      object += [.init("seconds", .double(report.seconds)), .init("realtimeFactor", .double(report.realtimeFactor))]
      return .object(object)
    case .failed(let error): return ["status": "failed", "error": .string(error.message)]
    case .cancelled:
      let name = signal == SIGINT ? "SIGINT" : signal == nil ? "another failure" : "SIGTERM"
      return ["status": "cancelled", "error": .string("cancelled by \(name)")]
    }
  }

  private static func summary(_ outcomes: [RenderBatch.Outcome], _ code: ExitCode) -> JSONOutput {
    func count(_ isCounted: (OfflineResult) -> Bool) -> JSONOutput {
      .integer(Int64(outcomes.count { isCounted($0.result) }))
    }
    let isCancelled = code == .interrupted || code == .terminated
    return [
      "status": .string(code == .done ? "completed" : isCancelled ? "cancelled" : "failed"),
      "completed": count { if case .completed = $0 { true } else { false } },
      "failed": count { if case .failed = $0 { true } else { false } },
      "files": .array(
        outcomes.map { outcome in
          guard case .object(let members) = object(outcome, nil) else { return .null }
          return .object(
            [.init("input", .string(outcome.task.input)), .init("output", .string(outcome.task.output))] + members)
        }),
    ]
  }

  // MARK: Codes

  private static func exitCode(_ outcomes: [RenderBatch.Outcome], signal: Int32?) -> ExitCode {
    let isCancelled = outcomes.contains { $0.result == .cancelled }
    if let signal, isCancelled { return signal == SIGINT ? .interrupted : .terminated }
    for outcome in outcomes { if case .failed(let error) = outcome.result { return exitCode(error) } }
    return .done
  }

  static func exitCode(_ error: OfflineError) -> ExitCode {
    switch error.kind {
    case .wrongUsage: .wrongUsage
    case .inputMissing: .inputMissing
    case .badData: .badData
    case .cannotCreate: .cannotCreate
    case .inputOutput: .inputOutput
    case .internalError: .internalError
    }
  }
}
