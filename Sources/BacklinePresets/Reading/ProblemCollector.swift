import BacklineEngine

/// Gathers what is wrong while a preset is read, so that all of it can be told at once.
final class ProblemCollector {
  private let limit: Int
  private var problems: [(place: JSONPlace, problem: PresetProblem)] = []
  private var omittedCount = 0

  init(limit: Int) { self.limit = limit }

  /// Notes a problem. Its texts are only made while there is room for it: looking for a name close to a misspelt one takes time.
  func add(_ place: JSONPlace, _ keyPath: @autoclosure () -> String, _ message: @autoclosure () -> String) {
    guard problems.count < limit else {
      omittedCount += 1
      return
    }
    let problem = PresetProblem(line: place.line, column: place.column, keyPath: keyPath(), message: message())
    problems.append((place, problem))
  }

  /// The end of a message that names what was meant, for the first problems only: a rack may have thousands of nodes to search.
  func nearest(_ name: String, in candidates: some Sequence<String>) -> String {
    problems.count < 20 ? suggestion(for: name, in: candidates) : ""
  }

  /// Throws what has been gathered, if anything.
  func finish() throws(PresetError) {
    if !problems.isEmpty { throw error }
  }

  /// What has been gathered, in the order of the file.
  var error: PresetError {
    PresetError(problems.sorted { $0.place < $1.place }.map(\.problem), omittedCount: omittedCount)
  }
}
