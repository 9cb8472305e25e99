/// The rules for a node's name (R16).
public enum NodeName {
  /// The longest name in bytes.
  public static let maximumLength = 64

  /// Checks a name, and says what is wrong with it.
  public static func check(_ name: String) throws(EngineError) {
    if name.isEmpty { throw EngineError(.invalidName, "a node's name is empty: give it 1 to 64 bytes") }
    if name.utf8.count > maximumLength {
      throw EngineError(.invalidName, "the name '\(name)' has \(name.utf8.count) bytes: at most 64 are allowed")
    }
    for byte in name.utf8 where byte < 0x20 || byte == 0x7F || " #*,/?[]{}:".utf8.contains(byte) {
      let shown = byte < 0x20 || byte == 0x7F ? "a control character" : "'\(Character(UnicodeScalar(byte)))'"
      throw EngineError(.invalidName, "the name '\(name)' contains \(shown): leave out space # * , / ? [ ] { } :")
    }
    if name == "input" || name == "output" {
      throw EngineError(.invalidName, "'\(name)' is the JACK side itself: choose another name")
    }
  }
}

/// One end of a connection: a node and one of its buses.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  public var node: String
  /// `nil` means the first bus, or a mixer's next free input.
  public var bus: Int?

  public init(_ node: String, bus: Int? = nil) {
    self.node = node
    self.bus = bus
  }

  /// Reads `NAME` or `NAME:BUS`.
  public init(parsing text: String) throws(EngineError) {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
      self.init(text)
      return
    }
    let number = text[text.index(after: colon)...]
    guard let bus = Int(number), bus >= 0, !number.hasPrefix("+") else {
      throw EngineError(.invalidName, "'\(text)' is no NAME or NAME:BUS: buses are counted from 0")
    }
    self.init(String(text[..<colon]), bus: bus)
  }

  public var description: String { bus.map { "\(node):\($0)" } ?? node }
}
