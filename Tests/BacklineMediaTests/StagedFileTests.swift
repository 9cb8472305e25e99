import Foundation
import Testing

@testable import BacklineMedia

@Suite("Staged file")
struct StagedFileTests {
  private func names(_ fixtures: SoundFixtures) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixtures.folder).sorted()
  }

  private func put(_ text: String, _ staged: StagedFile) {
    let bytes = Array(text.utf8)
    #expect(write(staged.descriptor, bytes, bytes.count) == bytes.count)
  }

  private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  @Test("the name appears when the file is whole, and holds what was written")
  func publishes() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.path("a")
    let staged = try StagedFile(path, replacing: false)
    put("new", staged)
    #expect(!FileManager.default.fileExists(atPath: path))
    var seen: String?
    try staged.publish { path throws(SoundFileWriteError) in seen = text(path) }
    #expect(seen == "new" && text(path) == "new")
    #expect(try names(fixtures) == ["a"])
    staged.discard()
    #expect(text(path) == "new")
    #expect(throws: SoundFileWriteError.self) { try staged.publish { _ throws(SoundFileWriteError) in } }
  }

  @Test("what was there stays until the new file has passed, and for good where it has not")
  func keepsTheOld() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.path("a")
    try "old".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(chmod(path, 0o640) == 0)
    #expect(throws: SoundFileWriteError.exists(path: path)) { _ = try StagedFile(path, replacing: false) }
    let refused = try StagedFile(path, replacing: true)
    put("bad", refused)
    #expect(throws: SoundFileWriteError.self) {
      try refused.publish { path throws(SoundFileWriteError) in throw .notVerified(path: path, reason: "is bad") }
    }
    #expect(text(path) == "old")
    #expect(try names(fixtures) == ["a"])
    let dropped = try StagedFile(path, replacing: true)
    put("more", dropped)
    dropped.discard()
    dropped.discard()
    #expect(text(path) == "old")
    let staged = try StagedFile(path, replacing: true)
    put("new", staged)
    try staged.publish { _ throws(SoundFileWriteError) in }
    #expect(text(path) == "new")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
  }

  @Test("a name that was taken meanwhile is not replaced")
  func takenMeanwhile() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.path("a")
    let staged = try StagedFile(path, replacing: false)
    put("mine", staged)
    try "theirs".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(throws: SoundFileWriteError.exists(path: path)) { try staged.publish { _ throws(SoundFileWriteError) in } }
    #expect(text(path) == "theirs")
    #expect(try names(fixtures) == ["a"])
  }

  @Test("a link is followed, and stays a link")
  func links() throws {
    let fixtures = SoundFixtures()
    try "old".write(toFile: fixtures.path("real"), atomically: false, encoding: .utf8)
    #expect(symlink("real", fixtures.path("link")) == 0)
    #expect(symlink("nowhere", fixtures.path("broken")) == 0)
    let staged = try StagedFile(fixtures.path("link"), replacing: true)
    put("new", staged)
    try staged.publish { _ throws(SoundFileWriteError) in }
    #expect(text(fixtures.path("real")) == "new")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: fixtures.path("link")) == "real")
    #expect(throws: SoundFileWriteError.self) { _ = try StagedFile(fixtures.path("broken"), replacing: true) }
  }

  @Test("what cannot be a file is refused at once")
  func refusals() throws {
    let fixtures = SoundFixtures()
    for path in [
      "", "a\0b", fixtures.folder, fixtures.path("missing/a"), fixtures.folder + "/", "/dev/null", "/proc/x",
    ] {
      let error = #expect(throws: SoundFileWriteError.self) { _ = try StagedFile(path, replacing: true) }
      guard case .cannotCreate = error else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
    #expect(try names(fixtures) == [])
  }

  @Test("what a killed program left is swept away, what somebody works on is not")
  func sweeps() throws {
    let fixtures = SoundFixtures()
    let orphan = fixtures.path(".backline-1-abc.part")
    try "half".write(toFile: orphan, atomically: false, encoding: .utf8)
    try "kept".write(toFile: fixtures.path("backline.part"), atomically: false, encoding: .utf8)
    let first = try StagedFile(fixtures.path("a"), replacing: false)
    #expect(!FileManager.default.fileExists(atPath: orphan))
    let second = try StagedFile(fixtures.path("b"), replacing: false)
    StagedFile.sweep(fixtures.folder)
    for staged in [first, second] { try staged.publish { _ throws(SoundFileWriteError) in } }
    #expect(try names(fixtures) == ["a", "b", "backline.part"])
    #expect(fixtures.openDescriptors == 0)
  }
}
