import BacklineEngine

/// One thing that is wrong in a preset file.
public struct PresetProblem: Sendable, Equatable {
  /// From 1.
  public let line: Int
  /// From 1, in Unicode scalars.
  public let column: Int
  /// The keys that lead to it: `nodes[2].parameters.ratio`; `$` for the file as a whole.
  public let keyPath: String
  /// What is wrong and what to do.
  public let message: String

  public init(line: Int, column: Int, keyPath: String, message: String) {
    self.line = line
    self.column = column
    self.keyPath = keyPath
    self.message = message
  }

  /// The line that `backline check` prints: `FILE:LINE:COLUMN: KEYPATH: message`.
  public func text(file: String) -> String { "\(file):\(line):\(column): \(keyPath): \(message)" }
}

/// Why a preset was refused: all that is wrong with it, in the order of the file.
public struct PresetError: Error, Sendable, Equatable {
  /// At least one.
  public let problems: [PresetProblem]
  /// The problems beyond the limit, which are only counted.
  public let omittedCount: Int

  public init(_ problems: [PresetProblem], omittedCount: Int = 0) {
    self.problems = problems
    self.omittedCount = omittedCount
  }

  /// What `backline check` prints, one line a problem.
  public func lines(file: String) -> [String] {
    let lines = problems.map { $0.text(file: file) }
    return omittedCount == 0 ? lines : lines + ["\(file): and \(omittedCount) more"]
  }

  /// The refusal as one error for OSC and others who have room for one sentence.
  public func engineError(file: String) -> EngineError {
    let more = problems.count + omittedCount - 1
    let first = problems.first?.text(file: file) ?? file
    return EngineError(.invalidPreset, more > 0 ? "\(first) (and \(more) more)" : first)
  }
}
