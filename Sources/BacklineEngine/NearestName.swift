/// The candidate that a misspelt name was most likely meant to be, or `nil` where none is close.
///
/// Close is an edit distance of at most 2 (at most 1 for names of up to three letters), where an edit inserts, deletes or
/// replaces a letter or swaps two neighbours, and case does not count.
public func nearestName(_ name: String, in candidates: some Sequence<String>) -> String? {
  let wanted = Array(name.lowercased().utf8)
  guard !wanted.isEmpty, wanted.count <= 256 else { return nil }
  let limit = wanted.count <= 3 ? 1 : 2
  var nearest: (name: String, distance: Int)?
  for candidate in candidates {
    guard abs(candidate.utf8.count - wanted.count) <= limit else { continue }
    let distance = editDistance(wanted, Array(candidate.lowercased().utf8), limit: limit)
    if distance <= limit && distance < nearest?.distance ?? .max { nearest = (candidate, distance) }
  }
  return nearest?.name
}

/// `; did you mean X?` where a candidate is close to `name`, else nothing: the end of a message.
public func suggestion(for name: String, in candidates: some Sequence<String>) -> String {
  nearestName(name, in: candidates).map { "; did you mean \(quoted($0))?" } ?? ""
}

/// The distance of Damerau and Levenshtein in its restricted form (optimal string alignment); anything above `limit` once
/// it cannot come back to it.
private func editDistance(_ a: [UInt8], _ b: [UInt8], limit: Int) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    row.reserveCapacity(b.count + 1)
    for j in 0..<b.count {
      var best = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
      row.append(best)
    }
    if row.min() ?? 0 > limit { return limit + 1 }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
