import BacklineDSP
import BacklineEngine
import BacklineOSC
import BacklineOffline
import BacklinePresets

/// A capture as it was written by `CaptureWriter`, read back.
struct CaptureFolder: Sendable {
  static let format = "backline.capture"
  static let version = 2

  /// One change, with all its lines.
  struct Change: Sendable {
    let frame: Int64
    let order: Int
    /// The place of its first line: the order in which the render thread took the changes.
    let line: Int
    /// True for what went to the render thread by itself, false for what went with a plan.
    let isQueued: Bool
    var messages: [OSCMessage]
  }

  let path: String
  let sampleRate: Int
  let rampTime: Double
  let inputCount: Int
  let frames: Int64
  let isExact: Bool
  let graph: GraphDescription
  /// In the order of control.
  let changes: [Change]

  init(_ path: String, catalog: UnitCatalog = .standard) throws(OfflineError) {
    self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    let facts: JSONValue
    let preset: Preset
    do throws(EngineError) {
      let bytes = try PresetFile.read(self.path + "/capture.json")
      do throws(JSONError) {
        facts = try JSONReader.read(bytes)
      } catch {
        throw EngineError(.invalidPreset, "capture.json:\(error.line):\(error.column): \(error.message)")
      }
      preset = try PresetFile.load(self.path + "/preset.json", catalog: catalog)
    } catch {
      throw OfflineError(
        error.code == .notFound ? .inputMissing : .badData, "'\(path)' is no whole capture: \(error.message)")
    }
    graph = preset.graph(catalog: catalog)
    guard facts["format"]?.string == Self.format, facts["version"]?.integer == Self.version,
      let rate = facts["sampleRate"]?.integer, (8_000...768_000).contains(rate),
      let ramp = facts["rampTime"]?.number, (0...10).contains(ramp), let frames = facts["frames"]?.integer, frames >= 0,
      let inputs = facts["inputs"]?.integer, (0...32).contains(inputs), let isExact = facts["exact"]?.bool
    else { throw OfflineError(.badData, "\(path)/capture.json is no capture of this version") }
    (sampleRate, rampTime, inputCount, self.frames, self.isExact) = (rate, ramp, inputs, Int64(frames), isExact)
    changes = try Self.changes(self.path + "/events.jsonl")
  }

  private static func changes(_ path: String) throws(OfflineError) -> [Change] {
    var changes: [Int: Change] = [:]
    for event in try EventFile.events(path, sampleRate: 1, isCapture: true) {
      let order = event.order
      if changes[order] == nil {
        changes[order] = Change(
          frame: event.frame, order: order, line: event.line, isQueued: event.isQueued, messages: [])
      }
      changes[order]?.messages.append(event.message)
    }
    return changes.values.sorted { $0.order < $1.order }
  }

  /// What came in; silence where the rack had no inputs.
  func source() throws(OfflineError) -> any OfflineSource {
    if inputCount == 0 {
      return try SilentSource(frames: frames, sampleRate: sampleRate, channelCount: 1)
    }
    let source = try FileSource(path: path + "/inputs.w64")
    guard source.frameCount == frames, source.sampleRate == sampleRate, source.channelCount == inputCount else {
      throw OfflineError(.badData, "\(path)/inputs.w64 does not belong to this capture")
    }
    return source
  }
}
