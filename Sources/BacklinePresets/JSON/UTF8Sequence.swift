/// Well-formed UTF-8 (The Unicode Standard, table 3-7).
enum UTF8Sequence {
  /// The bytes of the scalar that begins at `position`; `nil` where none does.
  static func length(in bytes: [UInt8], at position: Int) -> Int? {
    let count: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[position] {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: count = 2
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: count = 3
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: count = 4
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard position + count <= bytes.count, second.contains(bytes[position + 1]) else { return nil }
    for index in (position + 2)..<(position + max(count, 2)) where bytes[index] & 0xC0 != 0x80 { return nil }
    return count
  }
}
