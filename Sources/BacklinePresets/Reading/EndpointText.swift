import BacklineEngine

/// `NAME` or `NAME:BUS`, as presets and commands write the end of a connection.
struct EndpointText {
  let node: String
  /// `nil` where none is written.
  let bus: Int?

  /// Reads the text; `nil` where the part after the colon is not a bus number.
  init?(_ text: String) {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
      node = text
      bus = nil
      return
    }
    let digits = text.utf8[text.utf8.index(after: colon)...]
    let isNumber = digits.allSatisfy { (0x30...0x39).contains($0) } && (digits.count == 1 || digits.first != 0x30)
    guard isNumber, digits.count <= 5, let number = Int(String(Substring(digits))) else { return nil }
    node = String(text[..<colon])
    bus = number
  }

  /// The shortest text of an endpoint that the reader takes for the same.
  static func write(_ endpoint: Preset.Endpoint, isGrowing: Bool) -> String {
    endpoint.bus == 0 && !isGrowing ? endpoint.node : "\(endpoint.node):\(endpoint.bus)"
  }
}
