import BacklineEngine
import BacklinePresets
import Foundation
import Testing

@Suite("Preset library")
struct PresetLibraryTests {
  private let catalog = TestCatalog.standard

  /// A library of a shipped folder with `a` and `m`, an empty user's folder and a root beside them.
  private func withLibrary(_ body: (PresetLibrary, String) throws -> Void) throws {
    try withFolder { (base) throws in
      let base = FileRootsPath.resolved(base)
      for folder in ["shipped", "root"] {
        try FileManager.default.createDirectory(atPath: base + "/" + folder, withIntermediateDirectories: true)
      }
      for name in ["m", "a"] {
        try PresetFile.save(Preset(name: name), to: base + "/shipped/\(name).json", catalog: catalog)
      }
      try "{}".write(toFile: base + "/shipped/preset.schema.json", atomically: false, encoding: .utf8)
      try "".write(toFile: base + "/shipped/readme.txt", atomically: false, encoding: .utf8)
      let folders = PresetFolders(search: [base + "/shipped"], user: base + "/user/backline/presets")
      try body(PresetLibrary(folders: folders, roots: FileRoots([base + "/root"])), base)
    }
  }

  private func path(_ library: PresetLibrary, _ name: String) -> EngineError.Code? {
    errorCode { () throws(EngineError) in try library.path(of: name) }
  }

  @Test("presets are listed by name in order, schema and other files left out")
  func list() throws {
    try withLibrary { (library, base) throws in
      try library.save(Preset(name: "c"), as: "c", catalog: catalog)
      #expect(library.entries().map(\.name) == ["a", "c", "m"])
      #expect(library.entries()[1].path == base + "/user/backline/presets/c.json")
    }
  }

  @Test("next and previous go round")
  func stepping() throws {
    try withLibrary { (library, _) throws in
      #expect(try library.next(after: nil).name == "a")
      #expect(try library.next(after: "a").name == "m")
      #expect(try library.next(after: "b").name == "m")
      #expect(try library.next(after: "m").name == "a")
      #expect(try library.previous(before: nil).name == "m")
      #expect(try library.previous(before: "m").name == "a")
      #expect(try library.previous(before: "a").name == "m")
    }
    let empty = PresetLibrary(folders: PresetFolders(search: [], user: nil), roots: nil)
    #expect(errorCode { () throws(EngineError) in try empty.next(after: nil) } == .notFound)
  }

  @Test("a preset is found by name, by name with ending, and by path inside roots and library")
  func finding() throws {
    try withLibrary { (library, base) throws in
      let file = base + "/shipped/a.json"
      #expect(try library.path(of: "a") == file)
      #expect(try library.path(of: "a.json") == file)
      #expect(try library.path(of: file) == file)
      #expect(path(library, "q") == .notFound)
      #expect(path(library, "q.json") == .notFound)
      #expect(path(library, "") == .notFound)
      #expect(path(library, base + "/other.json") == .notAllowed)
      #expect(path(library, "../shipped/a.json") == nil)
      #expect(path(library, "../../a.json") == .notAllowed)
      #expect(path(library, "sub/a.json") == .notFound)
      try PresetFile.save(Preset(name: "r"), to: base + "/root/r.json", catalog: catalog)
      #expect(try library.path(of: "r.json") == base + "/root/r.json")
      #expect(try library.load("r.json", catalog: catalog).name == "r")
    }
  }

  @Test("names that a file system may not take are saved, listed and loaded under themselves")
  func fileNames() throws {
    try withLibrary { (library, base) throws in
      for name in ["50% wet", "a:b?", ".hidden", "über", "x.schema", "100%25", "a.b"] {
        let entry = try library.save(Preset(name: "p"), as: name, catalog: catalog)
        #expect(entry.name == name)
        #expect(try library.path(of: name) == entry.path)
        let file = try #require(entry.path.split(separator: "/").last)
        #expect(!file.hasPrefix(".") && !file.contains(":"))
      }
      #expect(library.entries().count == 9)
      #expect(try library.save(Preset(name: "p"), as: "y.json", catalog: catalog).name == "y")
    }
  }

  @Test("names that cannot be saved, and those that would be hidden, are refused")
  func refusedNames() throws {
    try withLibrary { (library, _) throws in
      for (name, code) in [
        ("", EngineError.Code.invalidName), (".json", .invalidName), ("a/b", .invalidName), ("../x", .invalidName),
        (String(repeating: "x", count: 65), .invalidName), ("a", .nameTaken), ("tab\there", .invalidName),
        ("line\nbreak", .invalidName), ("a\u{202E}b", .invalidName), ("a\u{2028}b", .invalidName),
      ] {
        let found = errorCode { () throws(EngineError) in
          try library.save(Preset(name: "p"), as: name, catalog: catalog)
        }
        #expect(found == code, "\(name)")
      }
      let homeless = PresetLibrary(folders: PresetFolders(search: [], user: nil), roots: nil)
      let code = errorCode { () throws(EngineError) in
        try homeless.save(Preset(name: "p"), as: "x", catalog: catalog)
      }
      #expect(code == .notFound)
    }
  }

  @Test("folders come from the environment, the package or the installation, and the user's home")
  func folders() throws {
    try withFolder { (base) throws in
      for folder in ["package/presets", "package/.build/debug", "prefix/bin", "prefix/share/backline/presets"] {
        try FileManager.default.createDirectory(atPath: base + "/" + folder, withIntermediateDirectories: true)
      }
      try "".write(toFile: base + "/package/Package.swift", atomically: false, encoding: .utf8)
      let built = PresetFolders.standard(
        environment: { ["BACKLINE_PRESETS": "/p", "XDG_CONFIG_HOME": "/x"][$0] },
        executable: base + "/package/.build/debug/backline")
      #expect(built == PresetFolders(search: ["/p", base + "/package/presets"], user: "/x/backline/presets"))
      let installed = PresetFolders.standard(
        environment: { ["HOME": "/h", "XDG_CONFIG_HOME": "relative"][$0] }, executable: base + "/prefix/bin/backline")
      #expect(
        installed
          == PresetFolders(search: [base + "/prefix/share/backline/presets"], user: "/h/.config/backline/presets"))
      #expect(PresetFolders.standard(environment: { _ in nil }, executable: nil).user == nil)
    }
  }
}

private enum FileRootsPath {
  /// The path without links, as the library answers it.
  static func resolved(_ path: String) -> String { (try? FileRoots([path]).folders[0]) ?? path }
}
