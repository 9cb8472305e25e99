/// A JSON value that knows where it was read.
public struct JSONValue: Sendable, Equatable {
  /// What a value is.
  public enum Content: Sendable, Equatable {
    case null
    case bool(Bool)
    /// Always finite; the Double nearest to what was written.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// In the order of the text; no name twice.
    case object([JSONMember])
  }

  public let content: Content
  /// Where the value begins.
  public let place: JSONPlace

  public init(_ content: Content, at place: JSONPlace) {
    self.content = content
    self.place = place
  }
}

/// A name and value in a JSON object.
public struct JSONMember: Sendable, Equatable {
  public let name: String
  /// Where the name begins, at its quotation mark.
  public let place: JSONPlace
  public let value: JSONValue

  public init(name: String, at place: JSONPlace, value: JSONValue) {
    self.name = name
    self.place = place
    self.value = value
  }
}

extension JSONValue {
  public var bool: Bool? { if case .bool(let value) = content { value } else { nil } }
  public var number: Double? { if case .number(let value) = content { value } else { nil } }
  public var string: String? { if case .string(let value) = content { value } else { nil } }
  public var array: [JSONValue]? { if case .array(let value) = content { value } else { nil } }
  public var object: [JSONMember]? { if case .object(let value) = content { value } else { nil } }

  /// The number where it is whole and exact as a Double (±2^53).
  public var integer: Int? {
    guard let number, number == number.rounded(), number.magnitude <= 9_007_199_254_740_992 else { return nil }
    return Int(number)
  }

  /// The value of an object's member.
  public subscript(name: String) -> JSONValue? { object?.first { $0.name == name }?.value }

  /// What it is, for messages: "a string".
  public var typeName: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}
