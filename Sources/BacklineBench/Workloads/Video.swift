import BacklineDSP
import BacklinePresets
import Glibc

/// The sound of a movie through a gain, its pictures copied: whole processes, beside ffmpeg with its own gain and the same codec.
extension Bench {
  private static let clipLengths = [600, 60]
  private static let bitRate = "128k"

  func measureVideo(_ report: inout Report) throws {
    guard Machine.isInstalled("ffmpeg") else { throw BenchError("ffmpeg is not installed: it makes the clips") }
    let folder = "/tmp/backline-bench-video-\(getpid())"
    guard mkdir(folder, 0o700) == 0 else { throw BenchError("\(folder) cannot be made") }
    defer { for name in ["in.mp4", "out.mp4", "out.wav", "gain.json", "log.txt", ""] { remove("\(folder)/\(name)") } }
    let preset = "\(folder)/gain.json"
    try PresetFile.save(
      Preset(
        name: "gain", nodes: [.init("gain", kind: "gain", parameters: ["gain": -3])],
        connections: [.init(from: .init("input"), to: .init("gain")), .init(from: .init("gain"), to: .init("output"))]),
      to: preset, catalog: .standard)
    var table = Report.Table(
      title: "The sound of a movie (MP4, H.264 and stereo AAC) through a gain of -3 dB, pictures copied",
      columns: ["length s", "program", "wall s", "least", "processor s", "MiB at most", "backline to it"])
    for seconds in Self.clipLengths {
      let input = "\(folder)/in.mp4", output = "\(folder)/out.mp4"
      try makeClip(input, folder, seconds)
      let makers = [
        Maker(
          name: "backline", words: [backline, "render", input, output, "--preset", preset, "--overwrite", "--quiet"]),
        Maker(
          name: "ffmpeg -c:v copy, sync",
          words: [
            "sh", "-c",
            "ffmpeg -nostdin -y -v error -i \(input) -c:v copy -af volume=-3dB -c:a aac -b:a \(Self.bitRate) \(output)"
              + " && sync \(output)",
          ]),
      ]
      try compare(makers, seconds, folder, &table)
    }
    report.add(table)
  }

  private func makeClip(_ path: String, _ folder: String, _ seconds: Int) throws {
    remove(path)
    _ = try time(
      Maker(
        name: "ffmpeg",
        words: [
          "ffmpeg", "-nostdin", "-y", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25", "-f",
          "lavfi",
          "-i", "anoisesrc=color=pink:amplitude=0.25:seed=1,aformat=sample_rates=48000:channel_layouts=stereo", "-t",
          "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-b:a", Self.bitRate, path,
        ]), folder)
  }

  private func compare(_ makers: [Maker], _ seconds: Int, _ folder: String, _ table: inout Report.Table) throws {
    var runs: [[Run]] = Array(repeating: [], count: makers.count)
    // One more than are counted: the first warms the file cache. Who begins changes from turn to turn.
    for turn in 0...options.repeats {
      for index in turn % 2 == 0 ? Array(makers.indices) : makers.indices.reversed() {
        remove("\(folder)/out.mp4")
        let run = try time(makers[index], folder)
        if turn > 0 { runs[index].append(run) }
      }
    }
    let own = Statistics.median(runs[0].map(\.wall)) ?? .nan
    for (maker, runs) in zip(makers, runs) {
      let wall = Statistics.median(runs.map(\.wall)) ?? .nan
      table.rows.append([
        .count(seconds), .text(maker.name), .number(wall, digits: 3), .number(runs.map(\.wall).min(), 3),
        .number(Statistics.median(runs.map(\.processor)), 3), .number(runs.map(\.memory).max(), 0),
        .number(own / wall, digits: 2),
      ])
    }
  }
}
