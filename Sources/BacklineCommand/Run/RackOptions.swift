import BacklineEngine
import BacklineJACK
import BacklineMedia

/// What `backline run` was asked for, checked.
struct RackOptions: Sendable {
  enum HostChoice: String { case auto, jack, timer }

  var preset: String?
  var name = "backline"
  var server: String?
  var host = HostChoice.auto
  var oscPort: UInt16 = 9950
  var oscBind = "127.0.0.1"
  var connects = true
  var exactName = false
  var json = false
  var threads = RenderThreads.automatic
  var roots: FileRoots
  /// The folder of a capture.
  var capture: String?
  var recording: RecordingSettings

  init(_ arguments: ParsedArguments) throws(CommandError) {
    preset = arguments[.optionalPreset]
    name = arguments[.name] ?? name
    if name.isEmpty || name.utf8.contains(UInt8(ascii: ":")) {
      throw .usage("'\(name)' cannot name a JACK client: give it 1 to 63 bytes without ':'")
    }
    server = arguments[.server]
    if let word = arguments[.host], let choice = HostChoice(rawValue: word) { host = choice }
    if let port = arguments.integer(.oscPort) { oscPort = UInt16(port) }
    oscBind = arguments[.oscBind] ?? oscBind
    connects = arguments[.connect] != "none"
    exactName = arguments.contains(.exactName)
    json = arguments.contains(.json)
    capture = arguments[.capture]
    recording = RecordOptions.settings(arguments)
    threads = arguments.integer(.threads).map { .upTo($0) } ?? .automatic
    do throws(EngineError) {
      roots = try FileRoots([arguments[.root] ?? "."])
    } catch {
      throw CommandError(.inputMissing, "--root: \(error.message)")
    }
  }
}
