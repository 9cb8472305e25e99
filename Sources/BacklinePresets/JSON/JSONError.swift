/// Why a text is not JSON, and where it stops being so.
public struct JSONError: Error, Sendable, Equatable {
  public let place: JSONPlace
  /// The keys and indices that lead to the place (`nodes[2].kind`), `$` at the top.
  public let keyPath: String
  public let message: String

  public var line: Int { place.line }
  public var column: Int { place.column }

  public init(place: JSONPlace, keyPath: String, message: String) {
    self.place = place
    self.keyPath = keyPath
    self.message = message
  }
}
