import BacklineDSP
import BacklineEngine
import BacklinePresets

/// libFuzzer's entry: no bytes may bring the preset reader down, every refusal has a place and a message, and what is read can be
/// written and read back the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPreset(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  do {
    let preset = try PresetReader.read(bytes, catalog: .standard)
    let written = PresetWriter.write(preset, catalog: .standard)
    guard let again = try? PresetReader.read(written, catalog: .standard) else {
      fatalError("a written preset is refused: \(String(decoding: written, as: UTF8.self))")
    }
    precondition(again == preset, "a written preset reads back as another")
  } catch {
    precondition(!error.problems.isEmpty)
    for problem in error.problems {
      precondition(problem.line >= 1 && problem.column >= 1 && !problem.keyPath.isEmpty && !problem.message.isEmpty)
      precondition(!problem.text(file: "preset").utf8.contains { $0 < 0x20 }, "a problem has more than one line")
    }
  }
  return 0
}
