import BacklineMedia
import BacklinePresets

/// What happens to recordings, in words and for programs. Names, states, counts and times; never sound.
enum RecordText {
  /// A line for people; `nil` where there is nothing to say.
  static func line(_ event: RecordingEvent) -> String? {
    switch event {
    case .started(let path): "\(path) begins"
    case .gap(let gap):
      "\(gap.count) frames are missing at frame \(gap.frame): "
        + (gap.cause == .disk ? "the disk was too slow" : "the server lost them (xrun)")
    case .armed(let track, let frame): "\(track) sounds from frame \(frame) on"
    case .disarmed(let track, let frame): "\(track) is silent from frame \(frame) on"
    case .warning(let text): text
    case .space(let seconds): "the disk is full in \(ValueText.fixed(seconds, 0)) s: free some room, or stop"
    case .published(let path, let frames): "\(path) is whole, \(frames) frames"
    case .ended(let report): summary(report)
    }
  }

  /// How a recording ended.
  static func summary(_ report: RecordingReport) -> String {
    var text = "\(report.path): \(ValueText.fixed(report.seconds, 3)) s, \(report.frames) frames"
    text += ", ended because \(report.end == .stopped ? "it was stopped" : report.end?.text ?? "nothing came")"
    if report.gapCount > 0 {
      text +=
        "; incomplete: \(report.gapCount) gaps, \(report.lostToDisk) frames lost to the disk and"
        + " \(report.lostToServer) to the server"
    }
    if let failure = report.failure { text += "; \(failure)" }
    return text
  }

  static func json(_ report: RecordingReport) -> JSONOutput {
    var members: [JSONOutput.Member] = [
      .init("status", .string(report.failure == nil ? "completed" : "failed")),
      .init("files", .array(report.files.map { .string($0) })), .init("frames", .integer(report.frames)),
      .init("rate", .integer(Int64(report.sampleRate))), .init("seconds", .double(report.seconds)),
      .init("end", .string(report.end?.rawValue ?? "")), .init("lostToDisk", .integer(report.lostToDisk)),
      .init("lostToServer", .integer(report.lostToServer)),
      .init(
        "gaps",
        .array(
          report.gaps.map { gap in
            ["frame": .integer(gap.frame), "frames": .integer(gap.count), "cause": .string(gap.cause.rawValue)]
          })),
    ]
    if let failure = report.failure { members.append(.init("error", .string(failure))) }
    return .object(members)
  }

  /// The exit code for how a recording ended.
  static func exitCode(_ report: RecordingReport) -> ExitCode {
    report.isComplete && report.end != .diskFull ? .done : .inputOutput
  }
}
