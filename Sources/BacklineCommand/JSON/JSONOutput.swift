/// JSON to be written. Literals stand for themselves; an object keeps the order that it was given.
enum JSONOutput: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Written with as few digits as read back the same `Float`; `null` where not finite, which JSON cannot say.
  case float(Float)
  case double(Double)
  case string(String)
  case array([JSONOutput])
  case object([Member])

  /// A name and value in an object.
  struct Member: Sendable, Equatable {
    let name: String
    let value: JSONOutput

    init(_ name: String, _ value: JSONOutput) {
      self.name = name
      self.value = value
    }
  }
}

extension JSONOutput: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(arrayLiteral elements: JSONOutput...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSONOutput)...) {
    self = .object(elements.map { Member($0, $1) })
  }
}
