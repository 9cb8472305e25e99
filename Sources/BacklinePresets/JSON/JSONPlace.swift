/// Where something stands in a text. Lines and columns count from 1, columns in Unicode scalars.
public struct JSONPlace: Sendable, Equatable {
  private let storedLine: UInt32
  private let storedColumn: UInt32

  public var line: Int { Int(storedLine) }
  public var column: Int { Int(storedColumn) }

  public init(line: Int, column: Int) {
    storedLine = UInt32(clamping: line)
    storedColumn = UInt32(clamping: column)
  }
}

extension JSONPlace: Comparable {
  public static func < (a: JSONPlace, b: JSONPlace) -> Bool { (a.line, a.column) < (b.line, b.column) }
}
