import BacklineDSP
import BacklineEngine
import Glibc

/// The presets that there are by name, and the paths of those given by path. Waits for the disk.
public struct PresetLibrary: Sendable {
  /// One preset.
  public struct Entry: Sendable, Equatable {
    public let name: String
    public let path: String
  }

  public let folders: PresetFolders
  /// Where paths from outside are confined to; `nil` lets any path pass, for a program's own command line.
  public let roots: FileRoots?

  public init(folders: PresetFolders = .standard(), roots: FileRoots?) {
    self.folders = folders
    self.roots = roots
  }

  // MARK: Finding

  /// Every preset by name, sorted; where two folders have one of the same name, the one found first.
  public func entries() -> [Entry] {
    var found: [String: Entry] = [:]
    for folder in readable {
      for file in Self.files(in: folder) {
        guard let name = PresetFileName.name(of: file), found[name] == nil else { continue }
        found[name] = Entry(name: name, path: folder + "/" + file)
      }
    }
    return found.values.sorted { $0.name < $1.name }
  }

  /// The file of a preset: a path where it has a `/` or ends in `.json`, else a name.
  public func path(of nameOrPath: String) throws(EngineError) -> String {
    let isPath = nameOrPath.utf8.contains(UInt8(ascii: "/"))
    guard isPath || nameOrPath.hasSuffix(PresetFileName.ending) else { return try path(named: nameOrPath) }
    do throws(EngineError) {
      guard let roots else {
        if let path = Self.resolve(nameOrPath) { return path }
        throw EngineError(.notFound, "there is no preset file \(quoted(nameOrPath)); check the path")
      }
      return try roots.existing(nameOrPath, orIn: readable)
    } catch {
      // `vocal.json` without a folder may also be meant as the name `vocal`.
      let stem = String(nameOrPath.dropLast(PresetFileName.ending.count))
      if !isPath, error.code == .notFound, let path = try? path(named: stem) { return path }
      throw error
    }
  }

  private func path(named name: String) throws(EngineError) -> String {
    let entries = entries()
    if let entry = entries.first(where: { $0.name == name }) { return entry.path }
    let nearest = suggestion(for: name, in: entries.map(\.name))
    throw EngineError(
      .notFound, "there is no preset \(quoted(name))\(nearest.isEmpty ? "; /preset/list names them" : nearest)")
  }

  /// The preset after `name` in the sorted list, the first after the last one or where `name` is `nil`.
  public func next(after name: String?) throws(EngineError) -> Entry {
    let entries = try someEntries()
    return entries.first { entry in name.map { entry.name > $0 } ?? true } ?? entries[0]
  }

  /// The preset before `name` in the sorted list, the last before the first one or where `name` is `nil`.
  public func previous(before name: String?) throws(EngineError) -> Entry {
    let entries = try someEntries()
    return entries.last { entry in name.map { entry.name < $0 } ?? true } ?? entries[entries.count - 1]
  }

  private func someEntries() throws(EngineError) -> [Entry] {
    let entries = entries()
    if entries.isEmpty { throw EngineError(.notFound, "there are no presets; save one with /preset/save NAME") }
    return entries
  }

  // MARK: Loading and saving

  /// The preset of a name or path.
  public func load(_ nameOrPath: String, catalog: UnitCatalog) throws(EngineError) -> Preset {
    let path = try path(of: nameOrPath)
    var preset = try PresetFile.load(path, catalog: catalog)
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    for index in preset.nodes.indices {
      if let file = preset.nodes[index].file, !file.hasPrefix("/") { preset.nodes[index].file = folder + file }
    }
    return preset
  }

  /// The resolved path of a file that a preset names: where presets are, or where commands may read.
  public func existing(_ file: String) throws(EngineError) -> String {
    guard let roots else { return file }
    return try roots.existing(file, orIn: readable)
  }

  /// Saves under a name in the user's folder, over one of the same name there. Returns where.
  ///
  /// The name of a preset in a folder that is searched before is refused: it would hide what was saved.
  @discardableResult
  public func save(_ preset: Preset, as name: String, catalog: UnitCatalog) throws(EngineError) -> Entry {
    let file = try PresetFileName.make(name)
    let name = PresetFileName.name(of: file) ?? name
    guard let user = folders.user else {
      throw EngineError(.notFound, "there is no folder to save presets in; set XDG_CONFIG_HOME or HOME")
    }
    let path = user + "/" + file
    if let entry = entries().first(where: { $0.name == name }), entry.path != path {
      throw EngineError(
        .nameTaken, "\(quoted(name)) is the name of \(quoted(entry.path)), which is found first; take another name")
    }
    try AtomicFile.makeFolder(user)
    try PresetFile.save(preset, to: path, catalog: catalog)
    return Entry(name: name, path: path)
  }

  // MARK: Folders

  /// The folders that may always be read.
  private var readable: [String] { folders.search + (folders.user.map { [$0] } ?? []) }

  private static func files(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var files: [String] = []
    while let entry = readdir(directory) {
      if entry.pointee.d_type == DT_DIR { continue }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name { files.append(name) }
    }
    return files.sorted()
  }

  private static func resolve(_ path: String) -> String? {
    guard !path.utf8.contains(0), let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
