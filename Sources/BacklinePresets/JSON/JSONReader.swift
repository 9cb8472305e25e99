/// Reads JSON strictly by RFC 8259, remembering where everything stands.
///
/// Refused are also what the standard leaves open: a name twice in one object, a byte order mark, text that is not UTF-8,
/// half surrogate pairs, numbers too large for a Double. Names that Unicode holds for the same (composed or not) count as the same.
public enum JSONReader {
  /// What a text may ask of memory and stack.
  public struct Limits: Sendable {
    /// The bytes of a text.
    public var size = 16 << 20
    /// How deep arrays and objects may be nested.
    public var depth = 64
    /// All values of a text.
    public var values = 4 << 20
    /// The bytes of one number.
    public var numberLength = 1024

    public init() {}
  }

  /// The value that a text consists of. Lines count from `firstLine`, for files that hold one value a line.
  public static func read(
    _ bytes: [UInt8], firstLine: Int = 1, limits: Limits = Limits()
  ) throws(JSONError) -> JSONValue {
    var parser = JSONParser(bytes, firstLine: firstLine, limits: limits)
    return try parser.document()
  }
}
