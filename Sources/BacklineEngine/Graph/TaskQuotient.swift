import BacklineGraph

/// Groups of steps and what each waits for: a graph without rings, whose groups are numbered so that each comes after those that
/// it waits for. Groups are merged by rules of which each keeps it free of rings.
struct TaskQuotient: ~Copyable {
  private(set) var count: Int
  /// Nanoseconds of each group.
  private(set) var cost: PlainList<Float>
  /// Where the groups that each waits for begin in `sources`; one entry more than there are groups.
  private var firstSource: PlainList<Int32>
  private var sources: PlainList<Int32>
  /// The groups that wait for each.
  private var readerCount: PlainList<Int32>

  // Of the pass that runs: the group that each is merged into (itself where none), marks, and what the groups in hand wait for.
  private var into: PlainList<Int32>
  private var mark: PlainList<Int32>
  private var stamp: Int32 = 0
  private var found = PlainList<Int32>(capacity: 64)

  /// Groups without anything to wait for, to be filled by `wait(for:)` and `end(cost:)`, one after the other.
  init(capacity: Int) {
    count = 0
    cost = PlainList(capacity: capacity)
    firstSource = PlainList(capacity: capacity + 1)
    firstSource.append(0)
    sources = PlainList(capacity: 2 * capacity)
    readerCount = PlainList(capacity: capacity)
    into = PlainList(capacity: 0)
    mark = PlainList(repeating: -1, count: capacity)
  }

  /// Has the group in making wait for an earlier one; negative for none.
  mutating func wait(for group: Int32) {
    if group < 0 || mark[group] == Int32(count) { return }
    mark[group] = Int32(count)
    sources.append(group)
    readerCount[group] += 1
  }

  /// Ends the group in making.
  mutating func end(cost: Float) {
    self.cost.append(cost)
    readerCount.append(0)
    firstSource.append(Int32(sources.count))
    count += 1
  }

  /// The groups that `group` waits for.
  func sources(of group: Int32) -> UnsafeBufferPointer<Int32> {
    UnsafeBufferPointer(rebasing: sources.elements[Int(firstSource[group])..<Int(firstSource[group + 1])])
  }

  // MARK: Merging

  /// Puts a group behind one that it waits for, where all else that it waits for is waited for there already: as the only one
  /// that waits for that group, or where it takes at most `small`, and both together at most `limit`, so that the others wait
  /// little longer.
  mutating func absorb(small: Float, limit: Float) -> PlainList<Int32> {
    begin()
    // What each group that stays waits for, in this pass.
    var starts = PlainList<Int32>(repeating: 0, count: count)
    var lengths = PlainList<Int32>(repeating: 0, count: count)
    var waited = PlainList<Int32>(capacity: sources.count)
    // The ways out of each group that stays.
    var open = PlainList<Int32>(repeating: 0, count: count)
    for group in 0..<Int32(count) {
      find(group)
      open[group] = readerCount[group]
      if let target = host(group, small, limit, starts, lengths, waited, open) {
        into[group] = target
        open[target] += open[group] - ways(from: target, to: group)
        cost[target] += cost[group]
        continue
      }
      starts[group] = Int32(waited.count)
      lengths[group] = Int32(found.count)
      for index in 0..<found.count { waited.append(found[index]) }
    }
    return rebuild()
  }

  /// The group that `group` can be put behind. Looks at the last few only.
  private mutating func host(
    _ group: Int32, _ small: Float, _ limit: Float, _ starts: borrowing PlainList<Int32>,
    _ lengths: borrowing PlainList<Int32>, _ waited: borrowing PlainList<Int32>, _ open: borrowing PlainList<Int32>
  ) -> Int32? {
    var index = found.count - 1
    while index >= max(0, found.count - 4) {
      let target = found[index]
      index -= 1
      if Int(lengths[target]) + 1 < found.count { continue }
      let isOnly = open[target] == ways(from: target, to: group)
      let isSmall = cost[group] <= small && cost[group] + cost[target] <= limit
      if !isOnly && !isSmall { continue }
      stamp += 1
      mark[target] = stamp
      for at in starts[target]..<starts[target] + lengths[target] { mark[waited[at]] = stamp }
      var isCovered = true
      for at in 0..<found.count where mark[found[at]] != stamp { isCovered = false }
      if isCovered { return target }
    }
    return nil
  }

  /// The groups merged into `target` that `group` waits for.
  private func ways(from target: Int32, to group: Int32) -> Int32 {
    var count: Int32 = 0
    for source in sources(of: group) where into[source] == target { count += 1 }
    return count
  }

  /// Makes one of groups that wait for the same, up to `limit` each.
  mutating func bundle(limit: Float) -> PlainList<Int32> {
    begin()
    var last: [UInt64: Int32] = [:]
    for group in 0..<Int32(count) {
      if cost[group] >= limit { continue }
      // Groups are not renumbered within the pass and lists are in order, so that equal lists are equal sets.
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for source in sources(of: group) { hash = (hash ^ UInt64(UInt32(bitPattern: source))) &* 0x100_0000_01b3 }
      guard let target = last[hash], sources(of: target).elementsEqual(sources(of: group)) else {
        last[hash] = group
        continue
      }
      if cost[target] + cost[group] <= limit {
        into[group] = target
        cost[target] += cost[group]
      } else {
        last[hash] = group
      }
    }
    return rebuild()
  }

  /// Puts a group before the only one that waits for it, where both together take at most `limit`.
  mutating func prepend(limit: Float) -> PlainList<Int32> {
    begin()
    var reader = PlainList<Int32>(repeating: -1, count: count)
    var isOnly = PlainList<Bool>(repeating: true, count: count)
    var group = Int32(count)
    while group > 0 {
      group -= 1
      // Those that wait for it have been looked at before.
      let target = reader[group]
      if target >= 0 && isOnly[group] && cost[group] + cost[target] <= limit {
        into[group] = target
        cost[target] += cost[group]
      }
      for source in sources(of: group) {
        if reader[source] < 0 {
          reader[source] = into[group]
        } else if reader[source] != into[group] {
          isOnly[source] = false
        }
      }
    }
    return rebuild()
  }

  private mutating func begin() {
    into = PlainList(repeating: 0, count: count)
    for group in 0..<count { into[group] = Int32(group) }
    mark = PlainList(repeating: 0, count: count)
    stamp = 0
  }

  /// What a group waits for as things are in this pass, each once.
  private mutating func find(_ group: Int32) {
    found.removeAll()
    stamp += 1
    for source in sources(of: group) {
      let now = into[source]
      if mark[now] == stamp || now == into[group] { continue }
      mark[now] = stamp
      found.append(now)
    }
  }

  // MARK: Numbering

  /// Makes a graph of what has been merged; the new number of each old group.
  private mutating func rebuild() -> PlainList<Int32> {
    var number = PlainList<Int32>(repeating: -1, count: count)
    let order = sorted()
    for index in 0..<order.count { number[order[index]] = Int32(index) }
    for group in 0..<Int32(count) where into[group] != group { number[group] = number[into[group]] }
    // Members of each new group, to gather what they wait for.
    var firstMember = PlainList<Int32>(repeating: 0, count: order.count + 2)
    for group in 0..<count { firstMember[number[group] + 2] += 1 }
    for index in 1..<firstMember.count { firstMember[index] += firstMember[index - 1] }
    var members = PlainList<Int32>(repeating: 0, count: count)
    for group in 0..<Int32(count) {
      let at = number[group] + 1
      members[firstMember[at]] = group
      firstMember[at] += 1
    }
    var next = TaskQuotient(capacity: max(1, order.count))
    for index in 0..<Int32(order.count) {
      for at in firstMember[index]..<firstMember[index + 1] {
        for source in sources(of: members[at]) where number[source] != index { next.wait(for: number[source]) }
      }
      next.end(cost: cost[order[Int(index)]])
    }
    self = next
    return number
  }

  /// The groups that stay, each after those that it waits for; what has just become possible comes first, so that chains stay
  /// together.
  private mutating func sorted() -> PlainList<Int32> {
    var waiting = PlainList<Int32>(repeating: 0, count: count)
    var firstReader = PlainList<Int32>(repeating: 0, count: count + 2)
    for group in 0..<Int32(count) {
      for source in sources(of: group) where into[source] != into[group] {
        waiting[into[group]] += 1
        firstReader[into[source] + 2] += 1
      }
    }
    for index in 1..<firstReader.count { firstReader[index] += firstReader[index - 1] }
    var readers = PlainList<Int32>(repeating: 0, count: max(1, Int(firstReader[count + 1])))
    for group in 0..<Int32(count) {
      for source in sources(of: group) where into[source] != into[group] {
        let at = into[source] + 1
        readers[firstReader[at]] = into[group]
        firstReader[at] += 1
      }
    }
    var order = PlainList<Int32>(capacity: count)
    var stack = PlainList<Int32>(capacity: 64)
    var group = Int32(count)
    while group > 0 {
      group -= 1
      if into[group] == group && waiting[group] == 0 { stack.append(group) }
    }
    while let top = stack.popLast() {
      order.append(top)
      var at = firstReader[top + 1]
      while at > firstReader[top] {
        at -= 1
        let reader = readers[at]
        waiting[reader] -= 1
        if waiting[reader] == 0 { stack.append(reader) }
      }
    }
    assert(order.count == (0..<count).reduce(0) { $0 + (into[$1] == Int32($1) ? 1 : 0) }, "a ring of tasks")
    return order
  }
}
