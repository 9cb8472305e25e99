/// A score for scsynth without a clock: one synth from the beginning to the end.
///
/// The file is a row of OSC bundles, each with its length before it (SuperCollider's help file "Non-Realtime Synthesis").
enum OfflineScore {
  static func bytes(_ definition: SynthDefinition, seconds: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    let load = text("/d_recv") + text(",b") + blob(SynthDefinition.file([definition]))
    let play = text("/s_new") + text(",siii") + text(definition.name) + number(1000) + number(0) + number(0)
    let end = text("/c_set") + text(",ii") + number(0) + number(0)
    for (time, message) in [(0, load), (0, play), (seconds, end)] {
      let bundle = text("#bundle") + number(Int32(time)) + number(0) + number(Int32(message.count)) + message
      bytes += number(Int32(bundle.count)) + bundle
    }
    return bytes
  }

  private static func number(_ value: Int32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return bytes + Array(repeating: 0, count: 4 - bytes.count % 4)
  }

  private static func blob(_ bytes: [UInt8]) -> [UInt8] {
    number(Int32(bytes.count)) + bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
  }
}
