import BacklineEngine
import Foundation
import Testing

@Suite("File roots")
struct FileRootsTests {
  /// A folder of its own, removed afterwards: `root/inside.txt`, `secret.txt` beside it.
  private func withFolders(_ body: (_ base: String, _ roots: FileRoots) throws -> Void) throws {
    let base = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: base + "/root/sub", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: base) }
    try "x".write(toFile: base + "/root/inside.txt", atomically: false, encoding: .utf8)
    try "x".write(toFile: base + "/secret.txt", atomically: false, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: base + "/rootless", withIntermediateDirectories: true)
    try body(base, FileRoots([base + "/root"]))
  }

  private func code(_ body: () throws(EngineError) -> String) -> EngineError.Code? {
    do throws(EngineError) {
      _ = try body()
      return nil
    } catch {
      return error.code
    }
  }

  @Test("what lies inside is found, by relative or absolute path")
  func inside() throws {
    try withFolders { (base, roots) throws in
      #expect(try roots.existing("inside.txt") == roots.folders[0] + "/inside.txt")
      #expect(try roots.existing("sub/../inside.txt") == roots.folders[0] + "/inside.txt")
      #expect(try roots.existing(base + "/root/inside.txt") == roots.folders[0] + "/inside.txt")
      #expect(try roots.destination("sub/new.wav") == roots.folders[0] + "/sub/new.wav")
    }
  }

  @Test("dots, links, neighbours with the same beginning and zero bytes do not lead out")
  func outside() throws {
    try withFolders { (base, roots) throws in
      try FileManager.default.createSymbolicLink(
        atPath: base + "/root/link.txt", withDestinationPath: base + "/secret.txt")
      try FileManager.default.createSymbolicLink(atPath: base + "/root/up", withDestinationPath: "..")
      try FileManager.default.createSymbolicLink(atPath: base + "/root/dangling", withDestinationPath: base + "/new")
      for path in [
        "../secret.txt", "link.txt", "up/secret.txt", base + "/secret.txt", base + "/rootless", "/etc/passwd",
        "../none",
        "inside.txt\u{0}x",
      ] {
        #expect(code { () throws(EngineError) in try roots.existing(path) } == .notAllowed, "\(path)")
      }
      for path in ["../new.wav", "up/new.wav", "link.txt", "dangling", base + "/rootless/new.wav"] {
        #expect(code { () throws(EngineError) in try roots.destination(path) } == .notAllowed, "\(path)")
      }
    }
  }

  @Test("what is missing inside is not found")
  func missing() throws {
    try withFolders { (_, roots) throws in
      #expect(code { () throws(EngineError) in try roots.existing("none.txt") } == .notFound)
      #expect(code { () throws(EngineError) in try roots.existing("inside.txt/none") } == .notFound)
      #expect(code { () throws(EngineError) in try roots.existing("") } == .notFound)
      #expect(code { () throws(EngineError) in try roots.destination("none/new.wav") } == .notFound)
      #expect(code { () throws(EngineError) in try roots.destination("sub/..") } == nil)
    }
    #expect(throws: EngineError.self) { try FileRoots(["/nowhere/at/all"]) }
    #expect(throws: EngineError.self) { try FileRoots([]) }
  }

  @Test("other folders can be read but not written")
  func others() throws {
    try withFolders { (base, roots) throws in
      let path = try roots.existing(base + "/secret.txt", orIn: [base])
      #expect(path.hasSuffix("/secret.txt"))
      #expect(code { () throws(EngineError) in try roots.destination(base + "/secret.txt") } == .notAllowed)
    }
  }
}
