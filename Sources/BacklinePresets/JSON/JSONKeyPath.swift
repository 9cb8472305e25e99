/// The text of a path through a JSON document: `nodes[2].parameters.ratio`, with `$` for the document itself.
enum JSONKeyPath {
  static let root = "$"

  /// The path of the member `key` of the object at `path`.
  static func member(_ key: String, of path: String) -> String {
    let isPlain =
      key.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
      && key.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
      }
    if isPlain { return path == root ? key : path + "." + key }
    var quoted = ""
    JSONWriter.quote(String(String.UnicodeScalarView(key.unicodeScalars.prefix(64))), into: &quoted)
    return path + "[" + quoted + "]"
  }

  /// The path of an element of the array at `path`.
  static func element(_ index: Int, of path: String) -> String { "\(path)[\(index)]" }
}
