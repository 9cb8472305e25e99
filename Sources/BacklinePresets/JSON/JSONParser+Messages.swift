extension JSONParser {
  /// What stands at the next byte, for messages.
  var found: String {
    guard position < bytes.count else { return "the end of the file" }
    if let length = UTF8Sequence.length(in: bytes, at: position), next >= 0x20, next != 0x7F {
      return "`" + String(decoding: bytes[position..<(position + length)], as: UTF8.self) + "`"
    }
    let digits = String(bytes[position], radix: 16, uppercase: true)
    return "the byte 0x" + (digits.utf8.count == 1 ? "0" : "") + digits
  }

  /// Why no value begins at the next byte, with the mistakes that people make.
  var noValueMessage: String {
    switch next {
    case UInt8(ascii: "'"): return "strings stand in double quotes"
    case UInt8(ascii: "/"), UInt8(ascii: "#"): return "JSON has no comments; remove this one"
    case UInt8(ascii: "+"): return "a number has no plus sign in front"
    case UInt8(ascii: "."): return "a number begins with a digit: 0.5, not .5"
    default: return "a value was expected, not \(found)"
    }
  }
}
