import BacklineMedia
import BacklineOffline

/// The options of all commands.
extension OptionDeclaration {
  static let name = OptionDeclaration(
    "--name", ValueDeclaration("NAME", .text(maximumBytes: 63)),
    "The JACK client's name, at most 63 bytes; 'backline' unless told otherwise.")
  static let server = OptionDeclaration(
    "--server", ValueDeclaration("NAME"), "The name of the JACK server; the default one unless told otherwise.")
  static let host = OptionDeclaration(
    "--host", ValueDeclaration("HOST", .word(["auto", "jack", "timer"])),
    "Where sound comes from and goes to: jack waits for a server, timer runs without one, auto (the default) takes JACK"
      + " where a server runs.")
  static let oscPort = OptionDeclaration(
    "--osc-port", ValueDeclaration("PORT", .integer(0...65_535)),
    "The port for OSC over UDP and TCP; 9950 unless told otherwise, and 0 picks a free one.")
  static let oscBind = OptionDeclaration(
    "--osc-bind", ValueDeclaration("ADDRESS"),
    "The address of the network that OSC listens on; 127.0.0.1, this machine alone, unless told otherwise.")
  static let connect = OptionDeclaration(
    "--connect", ValueDeclaration("WHAT", .word(["auto", "none"])),
    "Whether to connect to the sound card's ports at the start (auto, the default).")
  static let threads = OptionDeclaration(
    "--threads", ValueDeclaration("N", .integer(1...64, or: "auto"), offers: ["1", "2", "4"]),
    "How many threads render at most, never more than processors that may be used. With auto (the default) a live rack has others "
      + "help its first thread while that would take more than a third of the time there is; offline they always help where it is "
      + "faster.")
  static let root = OptionDeclaration(
    "--root", ValueDeclaration("DIR", .folder),
    "The folder that paths in commands over the network are confined to; the present one unless told otherwise.")
  static let json = OptionDeclaration("--json", nil, "Writes JSON, for programs.")
  static let exactName = OptionDeclaration(
    "--exact-name", nil, "Ends with 69 where the JACK server would change the client's name.")
  static let port = OptionDeclaration(
    "--port", ValueDeclaration("PORT", .integer(1...65_535)),
    "The port that the running rack listens on; 9950 unless told otherwise.")
  static let nodes = OptionDeclaration(
    "--nodes", nil, "Shows what each node takes of the time there is, too: on average and at most.")
  static let watch = OptionDeclaration(
    "--watch", nil, "Shows the status again four times a second until interrupted.")
  static let format = OptionDeclaration(
    "--format", ValueDeclaration("FORMAT", .word(["text", "dot", "svg"])),
    "How to draw: text (the default), dot for Graphviz, or svg, which needs Graphviz installed.")

  static let capture = OptionDeclaration(
    "--capture", ValueDeclaration("FOLDER", .folder),
    "Takes down all that comes in, sound and commands, for 'render --replay', until the rack ends or its ports change.")

  // MARK: record

  static let ports = OptionDeclaration(
    "--ports", ValueDeclaration("PORT,...", .text()),
    "The JACK ports to record, by their full names; what plays into a port where that is an input. The first two capture ports"
      + " unless told otherwise.")
  static let duration = OptionDeclaration(
    "--duration", ValueDeclaration("SECONDS", .text()), "Ends the recording after so many seconds.")
  static let preRoll = OptionDeclaration(
    "--pre-roll", ValueDeclaration("SECONDS", .integer(0...60)),
    "Has /record/start record what sounded so long before it, too: the output's sound, and that of sources that are armed."
  )
  static let splitTime = OptionDeclaration(
    "--split-time", ValueDeclaration("SECONDS", .integer(1...1_000_000)),
    "Begins a new file after so many seconds of recording, without losing a frame: take.wav, take-2.wav, ...")
  static let splitSize = OptionDeclaration(
    "--split-size", ValueDeclaration("MEBIBYTES", .integer(1...1_000_000)),
    "Begins a new file before one gets larger than so many MiB of sound.")

  static let recordEvents = OptionDeclaration(
    "--record-events", nil,
    "Has /record/start keep the commands of the time, too, for 'render --events': take.events.jsonl beside take.wav.")
  static let recordingFormat = OptionDeclaration(
    "--format", ValueDeclaration("KIND", .word(RecordingPlan.containers.map(\.rawValue))), containerFormat.summary)
  static let recordingSampleFormat = OptionDeclaration(
    "--sample-format", sampleFormat.value,
    "How samples are kept; float32 unless told otherwise, where the kind of file allows it.")

  // MARK: render

  static let throughPreset = OptionDeclaration(
    "--preset", ValueDeclaration("PRESET", .file),
    "The preset to render through: a path, or a name. Without one the sound passes as it is.")
  static let setting = OptionDeclaration(
    "--set", ValueDeclaration("NODE.PARAM=VALUE"), "Sets a parameter of the preset, as in --set comp.threshold=-20.",
    isRepeatable: true)
  static let tail = OptionDeclaration(
    "--tail", ValueDeclaration("TAIL", .text(), offers: ["none", "auto"]),
    "How long to go on after the input's end: none (the default), SECONDS, or auto, until nothing above -90 dBFS is left in"
      + " the output or in any unit, for a minute at most.")
  static let rate = OptionDeclaration(
    "--rate", ValueDeclaration("HZ", .integer(8_000...768_000), offers: ["44100", "48000", "96000"]),
    "The sample rate of graph and output; the input's unless told otherwise. It is converted by libsoxr at 28 bits, with a"
      + " stop band below -160 dB.")
  static let containerFormat = OptionDeclaration(
    "--format",
    ValueDeclaration("KIND", .word(RenderOptions.formats)),
    "The kind of file; by the ending of OUTPUT unless told otherwise.")
  static let sampleFormat = OptionDeclaration(
    "--sample-format", ValueDeclaration("FORMAT", .word(SampleFormat.allCases.map(\.rawValue))),
    "How samples are kept; as in the input unless told otherwise, where the kind of file allows it. 16 and 24 bits are dithered."
  )
  static let maxFrames = OptionDeclaration(
    "--max-frames", ValueDeclaration("N", .integer(1...8192)),
    "How many frames are rendered at once; 4096 unless told otherwise, and of no influence on the sound.")
  static let overwrite = OptionDeclaration(
    "--overwrite", nil, "Replaces an output that is there, once the new one is whole.")
  static let quiet = OptionDeclaration("--quiet", nil, "Shows neither progress nor results.")
  static let events = OptionDeclaration(
    "--events", ValueDeclaration("FILE", .file),
    "Plays a list of commands while rendering: one JSON object a line, with frame or seconds, address and arguments.")
  static let normalize = OptionDeclaration(
    "--normalize", ValueDeclaration("LUFS", .text(), offers: ["-14", "-16", "-23"]),
    "Brings the output to an integrated loudness of -70 to 0 LUFS, in a second pass.")
  static let tracks = OptionDeclaration(
    "--tracks", ValueDeclaration("N,...", .text()),
    "The tracks of a movie that are rendered, counted from 1 among those with sound; all unless told otherwise. The others are"
      + " copied.")
  static let replay = OptionDeclaration(
    "--replay", ValueDeclaration("FOLDER", .folder),
    "Renders a performance that was taken down by 'run --capture', bit for bit as it was heard; in place of INPUT.")
  static let jobs = OptionDeclaration(
    "--jobs", ValueDeclaration("N", .integer(1...64, or: "auto"), offers: ["1", "2", "4"]),
    "How many files of a batch are rendered at a time; auto (the default) is one a processor.")
}
