import BacklineEngine

/// The file names of presets that are saved by name (R16): safe everywhere, and no two names share one.
///
/// What a file system may not take is written as `%` and two hexadecimal digits, as in URLs (RFC 3986, section 2.1).
enum PresetFileName {
  static let ending = ".json"

  /// The file name for a preset's name.
  static func make(_ name: String) throws(EngineError) -> String {
    let stem = name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
    if stem.isEmpty { throw EngineError(.invalidName, "the name of a preset has at least one letter") }
    if stem.utf8.count > NodeName.longest {
      throw EngineError(.invalidName, "the name of a preset has at most \(NodeName.longest) bytes of UTF-8; shorten it")
    }
    if stem.utf8.contains(UInt8(ascii: "/")) {
      throw EngineError(.invalidName, "the name of a preset has no `/`: it is saved in the folder of presets")
    }
    if NodeName.hasControls(stem) {
      throw EngineError(.invalidName, "the name of a preset has no control characters")
    }
    var bytes: [UInt8] = []
    let schemaDot = stem.hasSuffix(".schema") ? stem.utf8.count - ".schema".utf8.count : 0
    for (index, byte) in stem.utf8.enumerated() {
      // A leading dot hides a file, and `NAME.schema.json` is no preset.
      let isSpecialDot = byte == UInt8(ascii: ".") && (index == 0 || index == schemaDot)
      if isSpecialDot || "%\\:*?\"<>|".utf8.contains(byte) {
        bytes += "%\(String(byte, radix: 16, uppercase: true))".utf8
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self) + ending
  }

  /// The preset's name that a file name stands for; `nil` where the file is no preset.
  static func name(of file: String) -> String? {
    guard file.hasSuffix(ending), !file.hasSuffix(".schema.json"), !file.hasPrefix("."),
      file.utf8.count > ending.utf8.count
    else { return nil }
    let stem = String(file.dropLast(ending.count))
    guard let name = decoded(stem), (try? make(name)) == file else { return stem }
    return name
  }

  private static func decoded(_ stem: String) -> String? {
    let bytes = Array(stem.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%") {
        guard index + 2 < bytes.count,
          let byte = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
        else { return nil }
        result.append(byte)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(validating: result, as: UTF8.self)
  }
}
