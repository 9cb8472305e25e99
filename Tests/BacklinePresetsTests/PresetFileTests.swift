import BacklineEngine
import BacklinePresets
import Foundation
import Testing

/// A folder of its own for one test, removed afterwards.
func withFolder(_ body: (String) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  try body(folder)
}

/// The code of the error that `body` throws.
func errorCode<Value>(_ body: () throws(EngineError) -> Value) -> EngineError.Code? {
  do throws(EngineError) {
    _ = try body()
    return nil
  } catch {
    return error.code
  }
}

@Suite("Preset file")
struct PresetFileTests {
  private let preset = Preset(name: "x", nodes: [.init("g", kind: "gain", parameters: ["gain": -6])])

  private func load(_ path: String) -> EngineError.Code? {
    errorCode { () throws(EngineError) in try PresetFile.load(path, catalog: TestCatalog.standard) }
  }

  private func save(_ path: String) -> EngineError.Code? {
    errorCode { () throws(EngineError) in try PresetFile.save(preset, to: path, catalog: TestCatalog.standard) }
  }

  @Test("what was saved is loaded, and nothing else is left in the folder")
  func saveAndLoad() throws {
    try withFolder { (folder) throws in
      let path = folder + "/a.json"
      try PresetFile.save(Preset(name: "old"), to: path, catalog: TestCatalog.standard)
      try PresetFile.save(preset, to: path, catalog: TestCatalog.standard)
      #expect(try PresetFile.load(path, catalog: TestCatalog.standard) == preset)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.json"])
    }
  }

  @Test("the old file keeps its rights, and a link keeps leading to its file")
  func replacing() throws {
    try withFolder { (folder) throws in
      try "old".write(toFile: folder + "/real.json", atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/real.json")
      try FileManager.default.createSymbolicLink(atPath: folder + "/link.json", withDestinationPath: "real.json")
      #expect(save(folder + "/link.json") == nil)
      #expect(load(folder + "/real.json") == nil)
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/real.json")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link.json") == "real.json")
    }
  }

  @Test("a save that fails leaves no trace and the old file whole")
  func failing() throws {
    try withFolder { (folder) throws in
      #expect(save(folder + "/none/a.json") == .notFound)
      #expect(save(folder) == .ioError)
      #expect(save("") == .ioError)
      #expect(save("/dev/null") == .ioError)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test("only regular files of sensible size are read, and nothing waits")
  func refusals() throws {
    try withFolder { (folder) throws in
      #expect(load(folder + "/none.json") == .notFound)
      #expect(load(folder) == .ioError)
      #expect(load("/dev/zero") == .ioError)
      #expect(mkfifo(folder + "/pipe", 0o600) == 0)
      #expect(load(folder + "/pipe") == .ioError)
      try Data(count: 101).write(to: URL(fileURLWithPath: folder + "/big"))
      #expect(
        errorCode { () throws(EngineError) in try PresetFile.read(folder + "/big", limit: 100) } == .limitReached)
      #expect(errorCode { () throws(EngineError) in try PresetFile.read(folder + "/big", limit: 101) } == nil)
    }
  }

  @Test("an invalid preset is refused with place and key")
  func invalid() throws {
    try withFolder { (folder) throws in
      let path = folder + "/bad.json"
      try "{\n \"format\": 1}".write(toFile: path, atomically: false, encoding: .utf8)
      do throws(EngineError) {
        _ = try PresetFile.load(path, catalog: TestCatalog.standard)
        Issue.record("loaded")
      } catch {
        #expect(error.code == .invalidPreset)
        #expect(error.message.hasPrefix("\(path):2:12: format: "))
      }
    }
  }
}
