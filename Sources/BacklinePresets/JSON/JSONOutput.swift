/// JSON to be written. Literals stand for themselves; an object keeps the order that it was given.
///
/// ```swift
/// let status: JSONOutput = ["status": "completed", "frames": .integer(48_000), "peak": .float(0.5)]
/// ```
public enum JSONOutput: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Written with as few digits as read back the same `Float`; `null` where not finite, which JSON cannot say.
  case float(Float)
  /// Written with as few digits as read back the same `Double`; `null` where not finite, which JSON cannot say.
  case double(Double)
  case string(String)
  case array([JSONOutput])
  case object([Member])

  /// A name and value in an object.
  public struct Member: Sendable, Equatable {
    public let name: String
    public let value: JSONOutput

    public init(_ name: String, _ value: JSONOutput) {
      self.name = name
      self.value = value
    }
  }
}

extension JSONOutput: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSONOutput...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONOutput)...) {
    self = .object(elements.map { Member($0, $1) })
  }
}
