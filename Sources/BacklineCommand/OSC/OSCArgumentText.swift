import BacklineOSC
import BacklinePresets

/// Arguments of OSC as they are typed and shown on the command line.
enum OSCArgumentText {
  /// The argument that a word stands for; see the help of `backline osc`.
  static func parse(_ word: String) throws(CommandError) -> OSCArgument {
    if let forced = try parseForced(word) { return forced }
    switch word {
    case "true": return .true
    case "false": return .false
    default: break
    }
    guard let form = NumberForm(word) else { return .string(word) }
    if form == .decimal { return .float(try float(word, word)) }
    if let value = Int32(word) { return .int32(value) }
    if let value = Int64(word) { return .int64(value) }
    throw .usage("'\(word)' does not fit into 64 bits: send it as f:\(word) or s:\(word)")
  }

  private static func parseForced(_ word: String) throws(CommandError) -> OSCArgument? {
    guard word.dropFirst().first == ":", let type = word.first else { return nil }
    let text = String(word.dropFirst(2))
    switch type {
    case "s": return .string(text)
    case "i":
      guard NumberForm(text) == .integer, let value = Int32(text) else { throw unlike(word, "32-bit integer") }
      return .int32(value)
    case "h":
      guard NumberForm(text) == .integer, let value = Int64(text) else { throw unlike(word, "64-bit integer") }
      return .int64(value)
    case "f": return .float(try float(text, word))
    case "d":
      guard NumberForm(text) != nil, let value = Double(text), value.isFinite else { throw unlike(word, "double") }
      return .double(value)
    default: return nil
    }
  }

  private static func float(_ text: String, _ word: String) throws(CommandError) -> Float {
    guard NumberForm(text) != nil, let value = Float(text), value.isFinite else { throw unlike(word, "float") }
    return value
  }

  private static func unlike(_ word: String, _ type: String) -> CommandError {
    .usage("'\(word)' is no \(type): to send it as text, write s:\(word)")
  }

  /// An argument for people and scripts: numbers plain, text in quotation marks where it would not be one word.
  static func show(_ argument: OSCArgument) -> String {
    switch argument {
    case .int32(let value): String(value)
    case .int64(let value): String(value)
    case .float(let value): value.description
    case .double(let value): value.description
    case .string(let text), .symbol(let text): isWord(text) ? text : JSONWriter.quoted(text)
    case .blob(let bytes): "blob(\(bytes.count))"
    case .character(let code): JSONWriter.quoted(String(Character(Unicode.Scalar(code))))
    case .timeTag(let tag): "time(\(tag))"
    case .midi(let bytes): "midi(\(String(bytes, radix: 16)))"
    case .true: "true"
    case .false: "false"
    case .nil: "nil"
    case .impulse: "impulse"
    }
  }

  /// An argument as JSON.
  static func json(_ argument: OSCArgument) -> JSONOutput {
    switch argument {
    case .int32(let value): .integer(Int64(value))
    case .int64(let value): .integer(value)
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .string(let text), .symbol(let text): .string(text)
    case .true, .impulse: .bool(true)
    case .false: .bool(false)
    case .nil: .null
    default: .string(show(argument))
    }
  }

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && !(0x7F...0x9F).contains($0.value) }
  }
}

/// The two forms of a number: digits alone, and with a point or an exponent. What Swift reads besides (hexadecimal,
/// `inf`, `nan`) is text on the command line.
enum NumberForm: Equatable {
  case integer
  case decimal

  init?(_ text: String) {
    var rest = text.utf8[...]
    func skipDigits() -> Int {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      rest = rest.dropFirst(digits)
      return digits
    }
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    var digits = skipDigits()
    var form = NumberForm.integer
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      digits += skipDigits()
      form = .decimal
    }
    if digits == 0 { return nil }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
      if skipDigits() == 0 { return nil }
      form = .decimal
    }
    if !rest.isEmpty { return nil }
    self = form
  }
}
