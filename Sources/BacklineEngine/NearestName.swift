/// The candidate that a misspelt name was most likely meant to be, or `nil` where none is close.
///
/// Close is an edit distance of at most 2 (at most 1 for names of up to three letters), where an edit inserts, deletes or
/// replaces a letter or swaps two neighbours, and case does not count.
public func nearestName(_ name: String, in candidates: some Sequence<String>) -> String? {
  var alignment = NameDistance(name)
  guard alignment.isUsable else { return nil }
  var nearest: (name: String, distance: Int)?
  for candidate in candidates {
    guard let distance = alignment.distance(to: candidate), distance < nearest?.distance ?? .max else { continue }
    nearest = (candidate, distance)
    if distance == 0 { break }
  }
  return nearest?.name
}

/// `; did you mean X?` where a candidate is close to `name`, else nothing: the end of a message.
public func suggestion(for name: String, in candidates: some Sequence<String>) -> String {
  nearestName(name, in: candidates).map { "; did you mean \(quoted($0))?" } ?? ""
}

/// The distance of Damerau and Levenshtein in its restricted form (optimal string alignment) from one name to many.
///
/// Only the cells that can stay within the limit are computed (Ukkonen 1985): a typing error among thousands of names must not
/// take long to explain.
private struct NameDistance {
  private let wanted: [UInt8]
  private let limit: Int
  /// Three rows of the table, one after the other: the one being filled and the two before it.
  private var cells: [Int]
  private let width: Int
  private var other: [UInt8] = []

  init(_ name: String) {
    wanted = name.utf8.map(Self.lowercased)
    limit = wanted.count <= 3 ? 1 : 2
    width = wanted.count + limit + 2
    cells = wanted.count > 256 ? [] : Array(repeating: 0, count: 3 * width)
  }

  var isUsable: Bool { !wanted.isEmpty && !cells.isEmpty }

  /// The distance, or `nil` above the limit.
  mutating func distance(to candidate: String) -> Int? {
    guard abs(candidate.utf8.count - wanted.count) <= limit else { return nil }
    other.removeAll(keepingCapacity: true)
    for byte in candidate.utf8 { other.append(Self.lowercased(byte)) }
    let far = limit + 1
    for column in 0...(other.count + 1) { cells[column] = min(column, far) }
    for i in 0..<wanted.count {
      let (row, last, beforeLast) = ((i + 1) % 3 * width, i % 3 * width, (i + 2) % 3 * width)
      let band = max(0, i - limit)..<min(other.count, i + limit + 1)
      var least = far
      cells[row + band.lowerBound] = band.lowerBound == 0 ? min(i + 1, far) : far
      for j in band {
        let kept = cells[last + j] + (wanted[i] == other[j] ? 0 : 1)
        var best = min(kept, cells[last + j + 1] + 1, cells[row + j] + 1)
        if i > 0, j > 0, wanted[i] == other[j - 1], wanted[i - 1] == other[j] {
          best = min(best, cells[beforeLast + j - 1] + 1)
        }
        cells[row + j + 1] = min(best, far)
        least = min(least, best)
      }
      cells[row + band.upperBound + 1] = far
      if least > limit { return nil }
    }
    let distance = cells[wanted.count % 3 * width + other.count]
    return distance <= limit ? distance : nil
  }

  /// Why ASCII only: names of parts are ASCII, and for names of nodes case is all but a detail.
  private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
