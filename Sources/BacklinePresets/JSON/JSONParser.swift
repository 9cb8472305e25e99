import BacklineEngine

/// A recursive descent through one text; its depth is limited.
struct JSONParser {
  enum PathPart {
    case member(String)
    case element(Int)
  }

  let bytes: [UInt8]
  let limits: JSONReader.Limits
  var position = 0
  private var line: Int
  /// A byte on this line whose column is known: columns are counted on from the last place asked for.
  private var known: (position: Int, column: Int) = (0, 1)
  private var path: [PathPart] = []
  private var valueCount = 0

  init(_ bytes: [UInt8], firstLine: Int, limits: JSONReader.Limits) {
    self.bytes = bytes
    self.limits = limits
    line = firstLine
  }

  /// The next byte, 0 at the end: a zero byte is refused wherever it stands.
  var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

  mutating func document() throws(JSONError) -> JSONValue {
    if bytes.count > limits.size {
      throw failure("the file has \(bytes.count) bytes, more than the \(limits.size) that are allowed")
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw failure("the file begins with a byte order mark; save it as UTF-8 without one")
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw failure("the file is UTF-16; save it as UTF-8")
    }
    skipSpace()
    if position == bytes.count { throw failure("the file is empty; a JSON value was expected") }
    let value = try value()
    skipSpace()
    if position < bytes.count { throw failure("nothing may follow the end of the JSON value, but \(found) does") }
    return value
  }

  // MARK: Values

  private mutating func value() throws(JSONError) -> JSONValue {
    valueCount += 1
    if valueCount > limits.values { throw failure("the file has more than \(limits.values) values") }
    let place = place()
    switch next {
    case UInt8(ascii: "{"): return JSONValue(.object(try object()), at: place)
    case UInt8(ascii: "["): return JSONValue(.array(try array()), at: place)
    case UInt8(ascii: "\""): return JSONValue(.string(try string()), at: place)
    case UInt8(ascii: "-"), 0x30...0x39: return JSONValue(.number(try number()), at: place)
    case UInt8(ascii: "t"): return JSONValue(.bool(try word("true", true)), at: place)
    case UInt8(ascii: "f"): return JSONValue(.bool(try word("false", false)), at: place)
    case UInt8(ascii: "n"):
      _ = try word("null", true)
      return JSONValue(.null, at: place)
    default: throw failure(noValueMessage)
    }
  }

  private mutating func object() throws(JSONError) -> [JSONMember] {
    try enter()
    var members: [JSONMember] = []
    var names: Set<String> = []
    position += 1
    skipSpace()
    if next == UInt8(ascii: "}") {
      position += 1
      return members
    }
    while true {
      guard next == UInt8(ascii: "\"") else { throw failure("a key in double quotes was expected, not \(found)") }
      let place = place()
      let name = try string()
      path.append(.member(name))
      if !names.insert(name).inserted {
        throw failure("the key \(quoted(name)) is there twice; remove one", at: place)
      }
      skipSpace()
      guard next == UInt8(ascii: ":") else { throw failure("a colon was expected after the key, not \(found)") }
      position += 1
      skipSpace()
      members.append(JSONMember(name: name, at: place, value: try value()))
      path.removeLast()
      if try !more(until: UInt8(ascii: "}"), of: "object") { return members }
    }
  }

  private mutating func array() throws(JSONError) -> [JSONValue] {
    try enter()
    var elements: [JSONValue] = []
    position += 1
    skipSpace()
    if next == UInt8(ascii: "]") {
      position += 1
      return elements
    }
    while true {
      path.append(.element(elements.count))
      elements.append(try value())
      path.removeLast()
      if try !more(until: UInt8(ascii: "]"), of: "list") { return elements }
    }
  }

  private func enter() throws(JSONError) {
    if path.count >= limits.depth { throw failure("lists and objects are nested more than \(limits.depth) deep") }
  }

  /// Takes the comma before another element (true) or the closing bracket (false).
  private mutating func more(until close: UInt8, of what: String) throws(JSONError) -> Bool {
    skipSpace()
    let bracket = Character(Unicode.Scalar(close))
    if next == close {
      position += 1
      return false
    }
    guard next == UInt8(ascii: ",") else {
      throw failure("a comma or the `\(bracket)` that closes the \(what) was expected, not \(found)")
    }
    let comma = place()
    position += 1
    skipSpace()
    if next == close {
      throw failure("no comma may stand before the closing `\(bracket)`; remove it", at: comma)
    }
    return true
  }

  private mutating func word<Value>(_ text: StaticString, _ value: Value) throws(JSONError) -> Value {
    let length = text.utf8CodeUnitCount
    let isThere = text.withUTF8Buffer { bytes[position...].prefix(length).elementsEqual($0) }
    let after = position + length < bytes.count ? bytes[position + length] : 0
    let isWhole = !((0x30...0x39).contains(after) || (0x41...0x5A).contains(after) || (0x61...0x7A).contains(after))
    guard isThere, isWhole else { throw failure("`\(text)` was expected here; strings stand in double quotes") }
    position += length
    return value
  }

  // MARK: Places

  /// Skips white space and counts lines.
  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x0A:
        line += 1
        known = (position + 1, 1)
      case 0x20, 0x09, 0x0D: break
      default: return
      }
      position += 1
    }
  }

  /// Where the next byte stands.
  mutating func place() -> JSONPlace {
    known = (position, column(at: position))
    return JSONPlace(line: line, column: known.column)
  }

  private func column(at position: Int) -> Int {
    // Counts the bytes that begin a scalar. An error may stand before the last known place, on the same line.
    let range = min(position, known.position)..<max(position, known.position)
    let scalars = bytes[range].reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
    return position < known.position ? known.column - scalars : known.column + scalars
  }

  /// An error at the next byte, or at `place`.
  func failure(_ message: String, at place: JSONPlace? = nil) -> JSONError {
    var keyPath = JSONKeyPath.root
    for part in path {
      switch part {
      case .member(let name): keyPath = JSONKeyPath.member(name, of: keyPath)
      case .element(let index): keyPath = JSONKeyPath.element(index, of: keyPath)
      }
    }
    return JSONError(
      place: place ?? JSONPlace(line: line, column: column(at: position)), keyPath: keyPath, message: message)
  }
}
