import BacklineDSP
import BacklinePresets
import Glibc

/// The reverb beside LV2 plug-ins that people use, each in a client of JACK's own.
extension Bench {
  /// Plug-ins in stereo by their URI; Debian: `calf-plugins`, `dragonfly-reverb-lv2`.
  private static let reverbs = [
    (name: "Calf Reverb", uri: "http://calf.sourceforge.net/plugins/Reverb"),
    (name: "Dragonfly Hall Reverb", uri: "https://github.com/michaelwillis/dragonfly-reverb"),
    (name: "Dragonfly Room Reverb", uri: "urn:dragonfly:room"),
    (name: "Dragonfly Plate Reverb", uri: "urn:dragonfly:plate"),
  ]

  func measureReverbPeers(_ report: inout Report) throws {
    let folder = "/tmp/backline-bench-\(getpid())"
    mkdir(folder, 0o700)
    defer { for name in ["reverb.json", "plugins.txt"] + Self.liveFiles + [""] { remove("\(folder)/\(name)") } }
    try PresetFile.save(
      Preset(
        name: "reverb", nodes: [.init("reverb", kind: "reverb")],
        connections: [
          .init(from: .init("input"), to: .init("reverb")), .init(from: .init("reverb"), to: .init("output")),
        ]), to: "\(folder)/reverb.json", catalog: .standard)
    var programs = [LiveProgram(name: "backline", words: rack("\(folder)/reverb.json", folder))]
    if options.measuresPeers { programs += try plugins(folder, &report) }
    try compareLive("Reverb in stereo at 64 frames", programs, in: folder, &report)
  }

  /// Those of the plug-ins that are installed, in jalv.
  private func plugins(_ folder: String, _ report: inout Report) throws -> [LiveProgram] {
    guard Machine.isInstalled("jalv"), Machine.isInstalled("lv2ls") else {
      report.note(
        "reverb-peers: jalv and lv2ls are not installed (Debian: jalv, lilv-utils), so no plug-in was measured")
      return []
    }
    let list = try Child(["lv2ls"], log: "\(folder)/plugins.txt")
    while list.isRunning { try Interruption.sleep(0.01) }
    let known = Set(TextFile.lines("\(folder)/plugins.txt").map { String($0) })
    let found = Self.reverbs.filter { known.contains($0.uri) }
    if found.isEmpty {
      report.note("reverb-peers: no known reverb is installed (Debian: calf-plugins, dragonfly-reverb-lv2)")
    }
    return found.map {
      LiveProgram(
        name: $0.name, words: ["jalv", "-i", "-n", LiveProgram.client, $0.uri],
        environment: ["JACK_DEFAULT_SERVER=\(JACKServer.name)"])
    }
  }
}
