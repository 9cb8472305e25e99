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
