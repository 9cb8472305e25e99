import Glibc

/// The programs that this package builds.
public enum BuiltProgram {
  /// The path of a program beside the running test bundle; the first of `names` that is there.
  public static func path(_ names: String...) throws -> String {
    for start in [ownPath, CommandLine.arguments[0]].compactMap({ $0 }) {
      var folder = start[...]
      while let slash = folder.lastIndex(of: "/") {
        folder = folder[..<slash]
        for name in names where access("\(folder)/\(name)", X_OK) == 0 && !isFolder("\(folder)/\(name)") {
          return "\(folder)/\(name)"
        }
      }
    }
    throw NotBuilt(names: names)
  }

  /// The command line `backline`.
  public static func backline() throws -> String { try path("backline", "BacklineCommand") }

  private static var ownPath: String? {
    var bytes = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
    return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }

  private static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }
}

/// A program is not where the package builds its programs.
public struct NotBuilt: Error {
  public let names: [String]
}
