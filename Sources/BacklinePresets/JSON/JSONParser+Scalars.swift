extension JSONParser {
  // MARK: Strings

  /// The string whose quotation mark comes next.
  mutating func string() throws(JSONError) -> String {
    position += 1
    var text: [UInt8] = []
    var start = position
    while true {
      guard position < bytes.count else { throw failure("the string does not end; close it with a double quote") }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        text += bytes[start..<position]
        position += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        text += bytes[start..<position]
        text += Array(String(try escape()).utf8)
        start = position
      case 0x0A: throw failure("the string does not end on its line; close it, or write \\n for a new line")
      case 0x00...0x1F: throw failure("a string has no bare control characters (\(found)); write them as \\u00XX")
      case 0x20...0x7F: position += 1
      default:
        guard let length = UTF8Sequence.length(in: bytes, at: position) else {
          throw failure("\(found) is not UTF-8; save the file as UTF-8")
        }
        position += length
      }
    }
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    position += 1
    let letter = next
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default:
      position -= 1
      throw failure("a backslash is followed by one of \" \\ / b f n r t u, not \(found)")
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let first = try hexadecimal()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, next == UInt8(ascii: "\\"), position + 1 < bytes.count,
      bytes[position + 1] == UInt8(ascii: "u")
    else { throw failure("half of a surrogate pair stands alone; write both halves, or the letter itself") }
    position += 2
    let second = try hexadecimal()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure("the second half of a surrogate pair is between \\uDC00 and \\uDFFF") }
    return scalar
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(next)).hexDigitValue else {
        throw failure("\\u is followed by four hexadecimal digits, not \(found)")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  // MARK: Numbers

  /// The number whose sign or first digit comes next.
  mutating func number() throws(JSONError) -> Double {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") {
      position += 1
      if isDigit { throw failure("a number has no zeros in front") }
    } else {
      try digits("")
    }
    if next == UInt8(ascii: ".") {
      position += 1
      try digits(" after the point")
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      try digits(" in the exponent")
    }
    let end = position
    position = start
    guard end - start <= limits.numberLength else {
      throw failure("a number has at most \(limits.numberLength) digits")
    }
    // Why not strtod: that follows the locale. Double's own reading rounds exactly and does not.
    guard let value = Double(String(decoding: bytes[start..<end], as: UTF8.self)), value.isFinite else {
      throw failure("the number is too large")
    }
    position = end
    return value
  }

  private var isDigit: Bool { (0x30...0x39).contains(next) }

  private mutating func digits(_ where: StaticString) throws(JSONError) {
    guard isDigit else { throw failure("a digit was expected\(`where`), not \(found)") }
    while isDigit { position += 1 }
  }
}
