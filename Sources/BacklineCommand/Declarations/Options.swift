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
    "How many threads render; auto (the default) chooses by the processor.")
  static let root = OptionDeclaration(
    "--root", ValueDeclaration("DIR", .folder),
    "The folder that paths in commands over the network are confined to; the present one unless told otherwise.")
  static let json = OptionDeclaration("--json", nil, "Writes JSON, for programs.")
  static let exactName = OptionDeclaration(
    "--exact-name", nil, "Ends with 69 where the JACK server would change the client's name.")
  static let port = OptionDeclaration(
    "--port", ValueDeclaration("PORT", .integer(1...65_535)),
    "The port that the running rack listens on; 9950 unless told otherwise.")
  static let watch = OptionDeclaration(
    "--watch", nil, "Shows the status again four times a second until interrupted.")
  static let format = OptionDeclaration(
    "--format", ValueDeclaration("FORMAT", .word(["text", "dot", "svg"])),
    "How to draw: text (the default), dot for Graphviz, or svg, which needs Graphviz installed.")
}
