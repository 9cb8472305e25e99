/// Finds the word that was meant (R20).
enum Suggestion {
  /// The nearest of `words`, where one is near enough: at most a third of the letters differ, and at least one is right.
  static func closest(to text: String, among words: [String]) -> String? {
    let limit = max(1, text.count / 3)
    let ranked = words.map { (word: $0, distance: distance(text.lowercased(), $0.lowercased())) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= limit && best.distance < best.word.count ? best.word : nil
  }

  /// `: did you mean 'x'?`, or nothing.
  static func sentence(for text: String, among words: [String]) -> String {
    closest(to: text, among: words).map { ": did you mean '\($0)'?" } ?? ""
  }

  /// The number of letters to insert, delete, replace or swap with a neighbour to make `b` of `a` (optimal string
  /// alignment, after Damerau 1964).
  static func distance(_ a: String, _ b: String) -> Int {
    // No word of ours is longer: what is longer by far is near to nothing.
    let a = Array(a.prefix(64)), b = Array(b.prefix(64))
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
      var row = [i]
      for j in 1...b.count {
        let cost = a[i - 1] == b[j - 1] ? 0 : 1
        var value = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
        if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] { value = min(value, before[j - 2] + 1) }
        row.append(value)
      }
      before = last
      last = row
    }
    return last[b.count]
  }
}
