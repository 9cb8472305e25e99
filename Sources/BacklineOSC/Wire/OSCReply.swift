import BacklineEngine

/// The two final answers that the protocol knows, and how to tell them from commands.
public enum OSCReply {
  /// `/reply ADDRESS VALUES`, or `/reply/id ID ADDRESS VALUES` where the command came with an id.
  public static func reply(to address: String, id: OSCArgument? = nil, _ values: [OSCArgument] = []) -> OSCMessage {
    if let id { return OSCMessage("/reply/id", [id, .string(address)] + values) }
    return OSCMessage("/reply", [.string(address)] + values)
  }

  /// `/error ADDRESS CODE MESSAGE`, or `/error/id ID ADDRESS CODE MESSAGE` where the command came with an id.
  public static func error(to address: String, id: OSCArgument? = nil, _ error: EngineError) -> OSCMessage {
    let message = shortened(error.message, to: OSCLimits.errorMessageBytes)
    let values: [OSCArgument] = [.string(address), .string(error.code.rawValue), .string(message)]
    if let id { return OSCMessage("/error/id", [id] + values) }
    return OSCMessage("/error", values)
  }

  /// True for the address of an answer. One that comes in (an echoing controller, a loop) is counted, never answered.
  public static func isAnswer(_ address: UnsafeBufferPointer<UInt8>) -> Bool {
    OSCBytes.equal(address, "/reply") || OSCBytes.equal(address, "/error")
      || OSCBytes.equal(address, "/reply/id") || OSCBytes.equal(address, "/error/id")
  }

  /// The beginning of a text that has more than `limit` bytes, with dots; the text itself where it has not.
  static func shortened(_ text: String, to limit: Int) -> String {
    if text.utf8.count <= limit { return text }
    // Why scalars: a character of Swift has no bound.
    var end = text.utf8.index(text.startIndex, offsetBy: limit - 3)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "..."
  }
}
