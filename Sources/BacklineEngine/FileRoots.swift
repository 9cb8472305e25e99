import Glibc

/// The folders that file paths in commands are confined to (R17).
///
/// Paths are compared after symbolic links have been resolved, so neither `..` nor a link leads out. May wait for a disk: not
/// for the control queue's thread where a network file system is in play.
public struct FileRoots: Sendable, Equatable {
  /// The roots, resolved. A relative path starts at the first.
  public let folders: [String]

  /// Confines paths to these folders, which must exist.
  public init(_ folders: [String]) throws(EngineError) {
    var resolved: [String] = []
    for folder in folders {
      guard let path = Self.resolve(folder) else {
        throw EngineError(
          .notFound, "the folder \(quoted(folder)) cannot be opened: \(Self.reason()); name one that is there")
      }
      resolved.append(path)
    }
    if resolved.isEmpty { throw EngineError(.notAllowed, "no folder is allowed; name one with --root") }
    self.folders = resolved
  }

  /// The resolved path of something that is there, inside the roots or inside one of `others`.
  public func existing(_ path: String, orIn others: [String] = []) throws(EngineError) -> String {
    let absolute = try absolute(path)
    let allowed = folders + others.compactMap(Self.resolve)
    if let resolved = Self.resolve(absolute) {
      guard Self.contains(resolved, in: allowed) else { throw outside(path) }
      return resolved
    }
    let code = errno
    // Why: whoever may not look outside must not learn either what is there.
    guard Self.contains(Self.deepestExisting(absolute), in: allowed) else { throw outside(path) }
    guard code == ENOENT || code == ENOTDIR else {
      throw EngineError(.ioError, "\(quoted(path)) cannot be opened: \(String(cString: strerror(code)))")
    }
    throw EngineError(.notFound, "there is no \(quoted(path)); check the path")
  }

  /// The resolved path of a file to be written, inside the roots: its folder must be there, the file need not.
  public func destination(_ path: String) throws(EngineError) -> String {
    let absolute = try absolute(path)
    if let resolved = Self.resolve(absolute) {
      guard Self.contains(resolved, in: folders) else { throw outside(path) }
      return resolved
    }
    let (folder, name) = Self.split(absolute)
    guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= 255 else {
      throw EngineError(.ioError, "\(quoted(path)) cannot name a file; end it with a name of at most 255 bytes")
    }
    guard Self.contains(Self.deepestExisting(folder), in: folders) else { throw outside(path) }
    guard let resolved = Self.resolve(folder) else {
      throw EngineError(.notFound, "the folder of \(quoted(path)) is not there; make it first")
    }
    let file = resolved == "/" ? "/" + name : resolved + "/" + name
    var status = stat()
    if lstat(file, &status) == 0 {
      throw EngineError(.notAllowed, "\(quoted(path)) is a link that leads nowhere; remove it or take another name")
    }
    return file
  }

  /// The path with every link resolved; `nil` with `errno` set where it is not there.
  static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private func absolute(_ path: String) throws(EngineError) -> String {
    if path.isEmpty { throw EngineError(.notFound, "the path is empty; name a file") }
    if path.utf8.contains(0) { throw EngineError(.notAllowed, "a path has no zero bytes") }
    return path.utf8.first == UInt8(ascii: "/") ? path : folders[0] + "/" + path
  }

  private func outside(_ path: String) -> EngineError {
    let allowed = folders.map { quoted($0) }.joined(separator: ", ")
    return EngineError(.notAllowed, "\(quoted(path)) is outside of \(allowed); allow its folder with --root")
  }

  private static func contains(_ path: String, in folders: [String]) -> Bool {
    folders.contains { folder in
      // Why bytes: as Strings, names that differ in their normal form would be the same.
      folder == "/" || path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: (folder + "/").utf8)
    }
  }

  private static func deepestExisting(_ path: String) -> String {
    var path = path
    while path != "/" {
      if let resolved = resolve(path) { return resolved }
      path = split(path).folder
    }
    return path
  }

  /// The folder and the last component of an absolute path.
  private static func split(_ path: String) -> (folder: String, name: String) {
    var bytes = Substring(path).utf8
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return ("/", String(Substring(bytes))) }
    let folder = Substring(bytes[..<slash])
    return (folder.isEmpty ? "/" : String(folder), String(Substring(bytes[bytes.index(after: slash)...])))
  }

  private static func reason() -> String { String(cString: strerror(errno)) }
}
