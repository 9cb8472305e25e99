import BacklineEngine
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

@Suite("backline render: bad input and bad luck")
struct RenderFailureTests {
  private static let tone = Signals.sine(441, frames: 4000, amplitude: 0.5).flatMap { [$0, -$0] }

  /// Renders `arguments`, in which IN and OUT stand for files, and sees that nothing is left.
  private func expectRefused(
    _ arguments: [String], _ status: Int32, _ folder: RenderFolder, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = folder.names
    let words = arguments.map { word in
      word.hasPrefix("./") ? folder.file(String(word.dropFirst(2))) : word
    }
    let ending = try ProcessRunner.run(try BuiltProgram.backline(), ["render"] + words)
    #expect(ending.status == status, "\(arguments): \(ending.errors)", sourceLocation: sourceLocation)
    #expect(ending.errors.hasPrefix("backline: error: "), sourceLocation: sourceLocation)
    #expect(ending.errors.filter { $0 == "\n" }.count == 1, "\(ending.errors)", sourceLocation: sourceLocation)
    #expect(folder.names == before, sourceLocation: sourceLocation)
    // The same as an object.
    let json = try ProcessRunner.run(try BuiltProgram.backline(), ["render"] + words + ["--json"])
    #expect(json.status == status, sourceLocation: sourceLocation)
    // What the parser of command lines refuses is no rendering yet.
    if status == 64 && json.output.isEmpty { return }
    let answer = try RenderAnswer(words.prefix { !$0.hasPrefix("--") }.last == "-" ? json.errors : json.output)
    #expect(
      answer["status"]?.string == "failed" && answer["error"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    #expect(folder.names == before, sourceLocation: sourceLocation)
  }

  @Test("an input that is no good leaves nothing under the output's name")
  func badInputs() throws {
    let folder = RenderFolder()
    let whole = RenderFolder.wave(Self.tone)
    _ = folder.write("in.wav", Self.tone)
    _ = folder.write("nothing.wav", bytes: [])
    _ = folder.write("text.wav", text: "not a sound at all, whatever the name says")
    _ = folder.write("cut.wav", bytes: Array(whole.prefix(whole.count / 2)))
    _ = folder.write("header.wav", bytes: Array(whole.prefix(30)))
    _ = folder.write("many.wav", [Float](repeating: 0, count: 3300), channels: 33)
    _ = folder.write("none.wav", [], channels: 0)
    _ = folder.write("slow.wav", Self.tone, rate: 2)
    // Nobody writes into it: opening must not wait.
    #expect(mkfifo(folder.file("pipe.wav"), 0o600) == 0)
    for (name, status) in [
      ("missing.wav", Int32(66)), ("nothing.wav", 65), ("text.wav", 65), ("cut.wav", 65), ("header.wav", 65),
      ("many.wav", 65),
      ("none.wav", 65), ("slow.wav", 65), ("pipe.wav", 65), ("in.wav/x.wav", 66),
    ] {
      try expectRefused(["./" + name, "./out.wav"], status, folder)
      try expectRefused(["./" + name, "./in.wav", "--overwrite"], status, folder)
    }
    #expect(try folder.read(folder.file("in.wav")) == Self.tone)
  }

  @Test("an output that cannot be made is refused, and what is there stays as it is")
  func badOutputs() throws {
    let folder = RenderFolder()
    _ = folder.write("in.wav", Self.tone)
    _ = folder.write("old.wav", text: "old")
    _ = folder.write("folder.txt", text: "no folder")
    #expect(symlink("in.wav", folder.file("link.wav")) == 0)
    try expectRefused(["./in.wav", "./old.wav"], 73, folder)
    try expectRefused(["./in.wav", "./nowhere/out.wav"], 73, folder)
    try expectRefused(["./in.wav", "./folder.txt/out.wav"], 73, folder)
    try expectRefused(["./in.wav", "/proc/out.wav"], 73, folder)
    try expectRefused(["./in.wav", "./in.wav"], 73, folder)
    try expectRefused(["./in.wav", "./in.wav", "--overwrite"], 73, folder)
    try expectRefused(["./in.wav", "./link.wav", "--overwrite"], 73, folder)
    #expect(try String(contentsOfFile: folder.file("old.wav"), encoding: .utf8) == "old")
    #expect(try folder.read(folder.file("in.wav")) == Self.tone)
    #expect(try folder.render(folder.file("in.wav"), folder.file("old.wav"), "--overwrite").status == 0)
    #expect(try folder.read(folder.file("old.wav")) == Self.tone)
  }

  @Test("what cannot be asked for is refused before anything is opened")
  func badOptions() throws {
    let folder = RenderFolder()
    _ = folder.write("in.wav", Self.tone)
    _ = folder.write("bad.json", text: "{}")
    let good = try folder.preset("good.json", [("gain", [:])])
    let refused: [([String], Int32)] = [
      (["--tail", "nan"], 64), (["--tail", "-1"], 64), (["--tail", "1e300"], 64), (["--tail", "soon"], 64),
      (["--rate", "0"], 64), (["--rate", "-48000"], 64), (["--rate", "1e6"], 64), (["--rate", "9000000"], 64),
      (["--rate", "nan"], 64), (["--max-frames", "0"], 64), (["--max-frames", "8193"], 64), (["--format", "wma"], 64),
      (["--format", "flac", "--sample-format", "float32"], 64), (["--format", "mp3", "--sample-format", "int16"], 64),
      (["--format", "opus", "--rate", "44100"], 64), (["--format", "mp3", "--rate", "96000"], 64),
      (["--normalize", "3"], 64), (["--normalize", "nan"], 64), (["--set", "gain.gain=1"], 64),
      (["--preset", good, "--set", "n0.gain"], 64), (["--preset", good, "--set", "n1.gain=1"], 64),
      (["--preset", good, "--set", "n0.gian=1"], 64), (["--preset", good, "--set", "n0.gain=1000"], 64),
      (["--preset", good, "--set", "n0.gain=nan"], 64), (["--preset", folder.file("bad.json")], 65),
      (["--preset", "no-such-preset"], 66), (["--events", folder.file("missing")], 66), (["--jobs", "0"], 64),
      (["--threads", "0"], 64), (["--threads", "two"], 64),
    ]
    for (options, status) in refused { try expectRefused(["./in.wav", "./out.wav"] + options, status, folder) }
    try expectRefused(["./in.wav", "./out"], 64, folder)
    try expectRefused(["./in.wav", "./out.txt"], 64, folder)
    try expectRefused(["./in.wav", "-", "--format", "flac"], 64, folder)
    try expectRefused(["./in.wav", "./in.wav", "-"], 64, folder)
    try expectRefused(["-", "./in.wav", "./out"], 64, folder)
    #expect(try folder.render(folder.file("in.wav")).status == 64)
    #expect(
      try folder.render(folder.file("in.wav"), folder.file("o.wav"), "--overwirte").errors.contains("--overwrite"))
  }

  @Test("a signal ends it with nothing left: 130 and 143")
  func signals() throws {
    for (signal, status, name) in [(SIGINT, Int32(130), "SIGINT"), (SIGTERM, 143, "SIGTERM")] {
      let folder = RenderFolder()
      // A stream that goes on: the rendering waits for it.
      let runner = try ProcessRunner(
        try BuiltProgram.backline(), ["render", "-", folder.file("out.wav"), "--json"])
      let header = RenderFolder.wave(Self.tone).prefix(44)
      runner.write(bytes: Array(header))
      try eventually { folder.names.count == 1 }
      #expect(folder.names.first?.hasPrefix(".backline-") == true)
      runner.send(signal)
      let ending = try runner.wait(20)
      #expect(ending.status == status)
      let answer = try RenderAnswer(ending.output)
      #expect(answer["status"]?.string == "cancelled" && answer["error"]?.string?.contains(name) == true)
      #expect(folder.names == [])
    }
  }

  @Test("what a killed rendering has left is swept away by the next")
  func killed() throws {
    let folder = RenderFolder()
    let runner = try ProcessRunner(try BuiltProgram.backline(), ["render", "-", folder.file("out.wav")])
    runner.write(bytes: Array(RenderFolder.wave(Self.tone).prefix(20_000)))
    try eventually { folder.names.count == 1 }
    runner.send(SIGKILL)
    #expect(try runner.wait().status == 128 + SIGKILL)
    #expect(folder.names.count == 1 && folder.names != ["out.wav"])
    let input = folder.write("in.wav", Self.tone)
    #expect(try folder.render(input, folder.file("out.wav")).status == 0)
    #expect(folder.names == ["in.wav", "out.wav"])
  }

  @Test(
    "a full disk fails one job of three, with its code, and nothing of it is left (U-68)",
    .enabled(if: SmallDisk.isPossible))
  func fullDisk() throws {
    let folder = RenderFolder()
    let disk = try SmallDisk(folder.file("disk"), megabytes: 1)
    let small = folder.write("small.wav", Self.tone)
    let large = folder.write("large.wav", [Float](repeating: 0.1, count: 400_000))
    let other = folder.write("zother.wav", Self.tone)
    let alone = try folder.render(large, disk.path + "/alone.wav")
    #expect(alone.status == 74 && alone.errors.contains("no space"))
    #expect(disk.names == [])
    let ending = try folder.render(small, large, other, disk.path, "--json", "--jobs", "1")
    #expect(ending.status == 74)
    let answer = try RenderAnswer(ending.output)
    #expect(answer["files"]?.array?.map { $0["status"]?.string } == ["completed", "failed", "completed"])
    #expect(disk.names == ["small.wav", "zother.wav"])
  }

  private func eventually(_ condition: () -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while !condition() {
      if Date() > end { throw SystemRefusal(code: ETIMEDOUT) }
      usleep(1000)
    }
  }
}
