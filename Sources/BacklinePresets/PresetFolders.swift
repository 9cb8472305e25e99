import Glibc

/// Where presets are looked for.
public struct PresetFolders: Sendable, Equatable {
  /// In the order of search; folders that are not there are skipped.
  public let search: [String]
  /// Where saves by name go; `nil` without a home.
  public let user: String?

  /// Looks in `search`, then in the user's own folder.
  public init(search: [String], user: String?) {
    self.search = search
    self.user = user
  }

  /// The folders of this process: `$BACKLINE_PRESETS` where it is set, the folder `presets` of the package that the program was
  /// built in or `share/backline/presets` where it is installed, then `$XDG_CONFIG_HOME/backline/presets`.
  public static func standard(
    environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } },
    executable: String? = executablePath()
  ) -> PresetFolders {
    var search: [String] = []
    if let folder = environment("BACKLINE_PRESETS"), !folder.isEmpty { search.append(folder) }
    if let executable, let folder = shipped(near: executable) { search.append(folder) }
    // Why absolute: the XDG base directory specification tells to ignore relative paths.
    if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      return PresetFolders(search: search, user: folder + "/backline/presets")
    }
    let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    return PresetFolders(search: search, user: home.map { $0 + "/.config/backline/presets" })
  }

  /// The path of the running program.
  public static func executablePath() -> String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// The folder of the presets that come with the program.
  static func shipped(near executable: String) -> String? {
    var folder = executable[...]
    while let slash = folder.lastIndex(of: "/") {
      folder = folder[..<slash]
      if isFolder("\(folder)/share/backline/presets") { return "\(folder)/share/backline/presets" }
      if isFile("\(folder)/Package.swift"), isFolder("\(folder)/presets") { return "\(folder)/presets" }
    }
    return nil
  }

  private static func isFolder(_ path: String) -> Bool { type(path) == S_IFDIR }
  private static func isFile(_ path: String) -> Bool { type(path) == S_IFREG }

  private static func type(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }
}
