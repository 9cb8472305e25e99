import Glibc

/// Why an address pattern is refused.
public enum OSCPatternError: Error, Equatable, Sendable {
  case noLeadingSlash
  case tooLong(limit: Int)
  case invalidUTF8
  case unclosedBracket
  case unclosedBrace
  case emptySet
  case backwardRange
  case slashInside
  case strayCloser
}

extension OSCPatternError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noLeadingSlash: "a pattern begins with /"
    case .tooLong(let limit): "a pattern has at most \(limit) bytes"
    case .invalidUTF8: "the pattern is not valid UTF-8"
    case .unclosedBracket: "[ without ]"
    case .unclosedBrace: "{ without }"
    case .emptySet: "[] holds nothing"
    case .backwardRange: "a range in [] runs backwards"
    case .slashInside: "/ inside [] or {}"
    case .strayCloser: "] or } without its opener"
    }
  }
}

/// An address pattern of OSC 1.0: `*` any characters, `?` one, `[a-z]` one of a set, `[!a]` one of no set, `{a,b}` one of
/// some strings. A pattern matches whole addresses, and nothing in it matches a `/`.
///
/// Matching steps through all the places where the pattern may stand at once (Thompson, "Regular expression search
/// algorithm", 1968), so that its time is bounded by the product of both lengths for whatever pattern a sender thinks of;
/// a matcher that backtracks takes exponential time for some. Characters are Unicode scalars.
public struct OSCPattern: Hashable, Sendable {
  /// The pattern as it was written.
  public let text: String
  /// True where no character of the pattern is special, so that it matches itself alone.
  public let isLiteral: Bool
  private let program: OSCPatternProgram
  /// What every match begins with: a cheap test that most addresses fail.
  private let prefix: [UInt8]

  /// Reads a pattern.
  public init(_ bytes: UnsafeBufferPointer<UInt8>) throws(OSCPatternError) {
    if bytes.first != UInt8(ascii: "/") { throw .noLeadingSlash }
    if bytes.count > OSCLimits.patternBytes { throw .tooLong(limit: OSCLimits.patternBytes) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
    self.text = text
    program = try OSCPatternProgram(text)
    prefix = Array(bytes.prefix { !Self.isSpecial($0) })
    isLiteral = prefix.count == bytes.count
  }

  /// Reads a pattern.
  public init(_ text: String) throws(OSCPatternError) {
    let parsed = Array(text.utf8).withUnsafeBufferPointer { bytes -> Result<OSCPattern, OSCPatternError> in
      do throws(OSCPatternError) {
        return .success(try OSCPattern(bytes))
      } catch {
        return .failure(error)
      }
    }
    self = try parsed.get()
  }

  /// True where the address is one that the pattern means.
  public func matches(_ address: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = address.baseAddress, address.count >= prefix.count else { return false }
    if memcmp(base, prefix, prefix.count) != 0 { return false }
    if isLiteral { return address.count == prefix.count }
    return program.matches(address)
  }

  /// True where the address is one that the pattern means.
  public func matches(_ address: String) -> Bool {
    var address = address
    return address.withUTF8 { matches($0) }
  }

  /// True where a character of these is special in patterns.
  public static func isPattern(_ address: UnsafeBufferPointer<UInt8>) -> Bool { address.contains(where: isSpecial) }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"),
      UInt8(ascii: "}"):
      true
    default: false
    }
  }

  public static func == (a: OSCPattern, b: OSCPattern) -> Bool { a.text == b.text }

  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
