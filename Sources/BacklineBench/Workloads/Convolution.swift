import BacklineDSP
import BacklinePresets
import CBackline
import Glibc

/// W6's impulse response: 3 s of decaying noise, left to left and right to right, of energy 1.
enum W6Response {
  static let frameCount = 144_000

  static func channels() -> [[Float]] {
    (0..<2).map { channel in
      var random = SplitMix(seed: UInt64(channel) + 61)
      var samples = (0..<frameCount).map { frame in
        // 60 dB in 3 s.
        Float.random(in: -1...1, using: &random) * Float(backline_exp(-6.908 * Double(frame) / Double(frameCount)))
      }
      let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
      let scale = Float(1 / backline_sqrt(energy))
      for index in samples.indices { samples[index] *= scale }
      return samples
    }
  }

  /// As a WAV file of floats.
  static func write(_ path: String) throws(BenchError) {
    let channels = channels()
    var bytes = Array("RIFF".utf8)
    func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    let size = UInt32(frameCount * 8)
    add(36 + size)
    bytes += "WAVEfmt ".utf8
    add(UInt32(16))
    add(UInt16(3))
    add(UInt16(2))
    add(UInt32(48_000))
    add(UInt32(48_000 * 8))
    add(UInt16(8))
    add(UInt16(32))
    bytes += "data".utf8
    add(size)
    for frame in 0..<frameCount { for channel in channels { add(channel[frame].bitPattern) } }
    try TextFile.write(bytes, to: path)
  }
}

/// W6: convolution with three seconds in stereo, live beside jconvolver and offline beside ffmpeg's `afir`.
extension Bench {
  func measureConvolution(_ report: inout Report) throws {
    let folder = "/tmp/backline-bench-\(getpid())"
    mkdir(folder, 0o700)
    let files = ["response.wav", "room.json", "room.conf", "in.wav", "out.wav"] + Self.liveFiles
    defer { for name in files + [""] { remove("\(folder)/\(name)") } }
    try W6Response.write("\(folder)/response.wav")
    try PresetFile.save(
      Preset(
        name: "room", nodes: [.init("room", kind: "convolver", file: "response.wav")],
        connections: [.init(from: .init("input"), to: .init("room")), .init(from: .init("room"), to: .init("output"))]),
      to: "\(folder)/room.json", catalog: .standard)
    try measureLiveConvolution(folder, &report)
    try measureOfflineConvolution(folder, &report)
  }

  private func measureLiveConvolution(_ folder: String, _ report: inout Report) throws {
    var programs = [LiveProgram(name: "backline", words: rack("\(folder)/room.json", folder))]
    if options.measuresPeers && Machine.isInstalled("jconvolver") {
      let words = ["jconvolver", "-s", JACKServer.name, "-N", LiveProgram.client, "\(folder)/room.conf"]
      programs.append(LiveProgram(name: "jconvolver", words: words))
    }
    try TextFile.write(
      Array(
        """
        /convolver/new 2 2 64 \(W6Response.frameCount)
        /input/name 1 in_1
        /input/name 2 in_2
        /impulse/read 1 1 1 0 0 0 1 \(folder)/response.wav
        /impulse/read 2 2 1 0 0 0 2 \(folder)/response.wav

        """.utf8), to: "\(folder)/room.conf")
    try compareLive("W6 a stereo response of 3 s at 64 frames", programs, in: folder, &report)
  }

  private func measureOfflineConvolution(_ folder: String, _ report: inout Report) throws {
    let input = "\(folder)/in.wav", output = "\(folder)/out.wav"
    try OfflineSignal.write(input, seconds: 600)
    var makers = [
      Maker(
        name: "backline",
        words: [
          backline, "render", input, output, "--preset", "\(folder)/room.json", "--overwrite", "--quiet",
        ])
    ]
    if options.measuresPeers && Machine.isInstalled("ffmpeg") {
      makers.append(
        Maker(
          name: "ffmpeg afir",
          words: [
            "ffmpeg", "-nostdin", "-y", "-v", "error", "-i", input, "-i", "\(folder)/response.wav", "-filter_complex",
            "afir=gtype=none", "-c:a", "pcm_f32le", output,
          ]))
    }
    var runs: [[Run]] = Array(repeating: [], count: makers.count)
    for turn in 0...options.repeats {
      for index in turn % 2 == 0 ? Array(makers.indices) : makers.indices.reversed() {
        remove(output)
        let run = try time(makers[index], folder)
        if turn > 0 { runs[index].append(run) }
      }
    }
    var table = Report.Table(
      title: "W6 the same offline, 600 s", columns: ["program", "wall s", "processor s", "backline to it"])
    let own = Statistics.median(runs[0].map(\.wall)) ?? .nan
    for (maker, runs) in zip(makers, runs) {
      let wall = Statistics.median(runs.map(\.wall)) ?? .nan
      table.rows.append([
        .text(maker.name), .number(wall, digits: 2), .number(Statistics.median(runs.map(\.processor)), 2),
        .number(own / wall, digits: 2),
      ])
    }
    report.add(table)
  }
}
