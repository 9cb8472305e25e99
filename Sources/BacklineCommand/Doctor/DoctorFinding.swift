import BacklinePresets

/// What the doctor found out about one thing.
struct DoctorFinding: Equatable, Sendable {
  enum Level: String, Sendable, Comparable {
    case ok
    /// Backline works, but the sound may drop out or come late.
    case warning
    /// Backline cannot do its work.
    case problem

    private var rank: Int {
      switch self {
      case .ok: 0
      case .warning: 1
      case .problem: 2
      }
    }

    static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }
  }

  /// For programs, lowerCamelCase.
  let name: String
  let level: Level
  /// What was found, one sentence.
  let detail: String
  /// What to do about it; empty where nothing is to be done.
  let advice: String

  static func ok(_ name: String, _ detail: String) -> DoctorFinding {
    DoctorFinding(name: name, level: .ok, detail: detail, advice: "")
  }

  static func warning(_ name: String, _ detail: String, _ advice: String) -> DoctorFinding {
    DoctorFinding(name: name, level: .warning, detail: detail, advice: advice)
  }

  static func problem(_ name: String, _ detail: String, _ advice: String) -> DoctorFinding {
    DoctorFinding(name: name, level: .problem, detail: detail, advice: advice)
  }
}

/// All that the doctor found.
struct DoctorReport: Equatable, Sendable {
  let findings: [DoctorFinding]

  /// The worst of all.
  var level: DoctorFinding.Level { findings.map(\.level).max() ?? .ok }

  var exitCode: ExitCode { level == .problem ? .unavailable : .done }

  var json: JSONOutput {
    [
      "status": .string(level.rawValue),
      "checks": .array(
        findings.map { finding in
          [
            "name": .string(finding.name), "level": .string(finding.level.rawValue), "detail": .string(finding.detail),
            "advice": .string(finding.advice),
          ]
        }),
    ]
  }

  func text(_ terminal: Terminal) -> String {
    let style = terminal.style
    let indent = 9
    let begin = String(repeating: " ", count: indent)
    return findings.map { finding in
      let detail = TextLayout.paragraph(finding.detail, indent: indent, width: terminal.columns)
      let level = TextLayout.padded(finding.level.rawValue, indent)
      let colored =
        switch finding.level {
        case .ok: style.green(level)
        case .warning: style.yellow(level)
        case .problem: style.red(level)
        }
      var text = colored + detail.dropFirst(indent)
      if !finding.advice.isEmpty {
        let advice = TextLayout.paragraph("→ " + finding.advice, indent: indent, width: terminal.columns)
        text += begin + style.bold(String(advice.dropFirst(indent).dropLast())) + "\n"
      }
      return text
    }.joined()
  }
}
