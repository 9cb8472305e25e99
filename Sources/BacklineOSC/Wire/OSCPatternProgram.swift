/// A pattern as steps of a nondeterministic machine, and the machine.
struct OSCPatternProgram: Sendable {
  private enum Step {
    /// Takes this scalar.
    case scalar(Unicode.Scalar)
    /// Takes any scalar but `/`.
    case any
    /// Takes a scalar of a set (or of none) but `/`: ranges from `first` to before `end` in `ranges`.
    case set(first: Int, end: Int, isNegated: Bool)
    /// Goes on at the next step and at `other`.
    case split(other: Int)
    case jump(to: Int)
    case accept
  }

  private var steps: [Step] = []
  private var ranges: [ClosedRange<Unicode.Scalar>] = []

  // MARK: Reading

  init(_ text: String) throws(OSCPatternError) {
    let scalars = Array(text.unicodeScalars)
    var at = 0
    while at < scalars.count {
      switch scalars[at] {
      case "*":
        steps.append(.split(other: steps.count + 3))
        steps.append(.any)
        steps.append(.jump(to: steps.count - 2))
        at += 1
      case "?":
        steps.append(.any)
        at += 1
      case "[": at = try readSet(scalars, at + 1)
      case "{": at = try readChoice(scalars, at + 1)
      case "]", "}": throw .strayCloser
      default:
        steps.append(.scalar(scalars[at]))
        at += 1
      }
    }
    steps.append(.accept)
  }

  /// Reads what follows a `[`; returns where the pattern goes on.
  private mutating func readSet(_ scalars: [Unicode.Scalar], _ start: Int) throws(OSCPatternError) -> Int {
    guard let end = scalars[start...].firstIndex(of: "]") else { throw .unclosedBracket }
    var at = start
    let isNegated = at < end && scalars[at] == "!"
    if isNegated { at += 1 }
    if at == end { throw .emptySet }
    let first = ranges.count
    while at < end {
      let low = scalars[at]
      // A minus before the closing bracket, or at the start, stands for itself.
      let isRange = at + 2 < end && scalars[at + 1] == "-"
      let high = isRange ? scalars[at + 2] : low
      if low > high { throw .backwardRange }
      if low == "/" || high == "/" { throw .slashInside }
      ranges.append(low...high)
      at += isRange ? 3 : 1
    }
    steps.append(.set(first: first, end: ranges.count, isNegated: isNegated))
    return end + 1
  }

  /// Reads what follows a `{`; returns where the pattern goes on.
  private mutating func readChoice(_ scalars: [Unicode.Scalar], _ start: Int) throws(OSCPatternError) -> Int {
    guard let end = scalars[start...].firstIndex(of: "}") else { throw .unclosedBrace }
    if scalars[start..<end].contains("/") { throw .slashInside }
    let choices = scalars[start..<end].split(separator: ",", omittingEmptySubsequences: false)
    var jumps: [Int] = []
    for (index, choice) in choices.enumerated() {
      let isLast = index == choices.count - 1
      if !isLast { steps.append(.split(other: steps.count + choice.count + 2)) }
      steps.append(contentsOf: choice.map { .scalar($0) })
      if !isLast {
        jumps.append(steps.count)
        steps.append(.jump(to: 0))
      }
    }
    for jump in jumps { steps[jump] = .jump(to: steps.count) }
    return end + 1
  }

  // MARK: Matching

  /// True where the whole address can be taken.
  func matches(_ address: UnsafeBufferPointer<UInt8>) -> Bool {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: steps.count * 4) { memory in
      var now = StepSet(memory, at: 0, capacity: steps.count)
      var next = StepSet(memory, at: steps.count * 2, capacity: steps.count)
      enter(0, &now)
      var rest = Unicode.Scalar.Decoder(address)
      while let scalar = rest.next() {
        next.removeAll()
        for index in 0..<now.count where takes(steps[now[index]], scalar) { enter(now[index] + 1, &next) }
        if next.count == 0 { return false }
        swap(&now, &next)
      }
      return now.contains(steps.count - 1)
    }
  }

  private func takes(_ step: Step, _ scalar: Unicode.Scalar) -> Bool {
    switch step {
    case .scalar(let wanted): scalar == wanted
    case .any: scalar != "/"
    case .set(let first, let end, let isNegated):
      scalar != "/" && ranges[first..<end].contains { $0.contains(scalar) } != isNegated
    case .split, .jump, .accept: false
    }
  }

  /// Adds a step, and those that it leads to without taking anything. Each step is added once, so this ends.
  private func enter(_ start: Int, _ set: inout StepSet) {
    var step = start
    while set.insert(step) {
      switch steps[step] {
      case .split(let other):
        enter(other, &set)
        step += 1
      case .jump(let target): step = target
      default: return
      }
    }
  }
}

/// A set of step numbers without allocation (Briggs and Torczon, "An efficient representation for sparse sets", 1993).
private struct StepSet {
  private let members: UnsafeMutablePointer<Int32>
  private let places: UnsafeMutablePointer<Int32>
  private(set) var count = 0

  init(_ memory: UnsafeMutableBufferPointer<Int32>, at offset: Int, capacity: Int) {
    guard let base = memory.baseAddress else { preconditionFailure("no memory for a pattern") }
    members = base + offset
    places = members + capacity
    members.initialize(repeating: 0, count: capacity * 2)
  }

  subscript(index: Int) -> Int { Int(members[index]) }

  func contains(_ step: Int) -> Bool {
    let place = Int(places[step])
    return place < count && members[place] == Int32(step)
  }

  /// Adds a step; false where it is there already.
  mutating func insert(_ step: Int) -> Bool {
    if contains(step) { return false }
    members[count] = Int32(step)
    places[step] = Int32(count)
    count += 1
    return true
  }

  mutating func removeAll() { count = 0 }
}

extension Unicode.Scalar {
  /// Reads the scalars of UTF-8; a byte that belongs to none stands for U+FFFD.
  fileprivate struct Decoder {
    private var iterator: UnsafeBufferPointer<UInt8>.Iterator
    private var decoder = UTF8()

    init(_ bytes: UnsafeBufferPointer<UInt8>) { iterator = bytes.makeIterator() }

    mutating func next() -> Unicode.Scalar? {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): scalar
      case .emptyInput: nil
      case .error: "\u{FFFD}"
      }
    }
  }
}
