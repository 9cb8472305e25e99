import BacklineEngine
import BacklineMedia
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

@Suite("backline render")
struct RenderProgramTests {
  private func tone(_ frames: Int, amplitude: Float = 0.5) -> [Float] {
    Signals.sine(441, frames: frames, amplitude: amplitude).flatMap { [$0, -$0] }
  }

  @Test("a file is rendered and told of, in words and as one JSON object")
  func completes() throws {
    let folder = RenderFolder()
    let samples = tone(48_000)
    let input = folder.write("in.wav", samples)
    let words = try folder.render(input, folder.file("out.wav"))
    #expect(words.status == 0 && words.errors == "")
    #expect(words.output.contains("48000 frames") && words.output.contains("peak -6.0 dBFS"))
    #expect(try folder.read(folder.file("out.wav")) == samples)
    let ending = try folder.render(
      input, folder.file("out.flac"), "--json", "--tail", "0.25", "--sample-format", "int16")
    let answer = try RenderAnswer(ending.output)
    #expect(answer["status"]?.string == "completed")
    #expect(answer["frames"]?.integer == 60_000)
    #expect(answer["rate"]?.integer == 48_000 && answer["channels"]?.integer == 2)
    #expect(answer["tail"]?.integer == 12_000 && answer["tailReason"]?.string == "seconds")
    #expect(abs((answer["peak"]?.number ?? 0) + 6.02) < 0.01)
    #expect((answer["seconds"]?.number ?? 0) > 0 && (answer["realtimeFactor"]?.number ?? 0) > 0)
    #expect(try SoundFileReader(path: folder.file("out.flac")).format.frameCount == 60_000)
    #expect(folder.names == ["in.wav", "out.flac", "out.wav"])
  }

  @Test("every kind of file is written with the exact length, in header and report (U-60)")
  func formats() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", tone(10_001))
    for container in SoundContainer.allCases {
      let output = folder.file("out.\(container.rawValue)")
      let ending = try folder.render(input, output, "--format", container.rawValue, "--json")
      #expect(ending.status == 0, "\(container): \(ending.output)")
      #expect(try RenderAnswer(ending.output)["frames"]?.integer == 10_001)
      #expect(try SoundFileReader(path: output).format.frameCount == 10_001)
    }
    let empty = folder.write("empty.wav", [])
    #expect(try folder.render(empty, folder.file("empty-out.wav")).status == 0)
    #expect(try SoundFileReader(path: folder.file("empty-out.wav")).format.frameCount == 0)
    let refused = try folder.render(empty, folder.file("empty.flac"))
    #expect(refused.status == 65 && refused.errors.contains("without a frame"))
    #expect(!folder.names.contains("empty.flac"))
  }

  @Test("a preset, its settings and another rate come through")
  func presets() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", tone(48_000))
    let preset = try folder.preset("p.json", [("gain", ["gain": -6]), ("pan", [:])])
    let ending = try folder.render(
      input, folder.file("out.wav"), "--preset", preset, "--set", "n0.gain=-20", "--rate", "24000", "--json")
    #expect(ending.status == 0)
    #expect(try RenderAnswer(ending.output)["frames"]?.integer == 24_000)
    let peak = try folder.read(folder.file("out.wav")).map(\.magnitude).max() ?? 0
    #expect(abs(peak - 0.05) < 0.001)
    #expect(try SoundFileReader(path: folder.file("out.wav")).format.sampleRate == 24_000)
    let bypassed = try folder.render(
      input, folder.file("b.wav"), "--preset", preset, "--set", "n0.bypass=1", "--max-frames", "77")
    #expect(bypassed.status == 0)
    #expect(try folder.read(folder.file("b.wav")).map(\.magnitude).max() ?? 0 > 0.49)
  }

  @Test("standard input and output are WAV streams, exact to the bit")
  func streams() throws {
    let folder = RenderFolder()
    let samples = tone(5000)
    let input = folder.write("in.wav", samples)
    let script = "exec \"$0\" render - - --json < '\(input)' > '\(folder.file("out.wav"))'"
    let ending = try ProcessRunner.run("/bin/sh", ["-c", script, try BuiltProgram.backline()])
    #expect(ending.status == 0)
    // The object is on standard error, for standard output carries the sound.
    #expect(try RenderAnswer(ending.errors)["frames"]?.integer == 5000)
    #expect(try folder.read(folder.file("out.wav")) == samples)
    let cut = folder.write("cut.wav", bytes: Array(RenderFolder.wave(samples).prefix(20_000)))
    let broken = try ProcessRunner.run(
      "/bin/sh", ["-c", "exec \"$0\" render - '\(folder.file("x.wav"))' < '\(cut)'", try BuiltProgram.backline()])
    #expect(broken.status == 65 && broken.errors.contains("standard input"))
    #expect(!folder.names.contains("x.wav"))
    let closed = try ProcessRunner.run(
      "/bin/bash",
      [
        "-c", "set -o pipefail; \"$0\" render '\(input)' - --tail 60 | head -c 100 > /dev/null",
        try BuiltProgram.backline(),
      ])
    #expect(closed.status == 74)
  }

  @Test("a batch goes on after a failure, names it, and ends with its code")
  func batch() throws {
    let folder = RenderFolder()
    let inputs = [
      folder.write("a.wav", tone(1000)), folder.write("b.wav", text: "no sound"), folder.write("c.wav", tone(2000)),
    ]
    try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: false)
    let words = try folder.render(inputs[0], inputs[1], inputs[2], folder.file("out"))
    #expect(words.status == 65)
    #expect(words.errors.split(separator: "\n").count == 1 && words.errors.ranges(of: inputs[1]).count == 1)
    #expect(words.output.contains("2 of 3 files rendered"))
    let ending = try folder.render(
      folder.path, folder.file("out"), "--json", "--overwrite", "--jobs", "2", "--format", "flac")
    let answer = try RenderAnswer(ending.output)
    #expect(answer["status"]?.string == "failed")
    #expect(answer["completed"]?.integer == 2 && answer["failed"]?.integer == 1)
    #expect(answer["files"]?.array?.map { $0["frames"]?.integer } == [1000, nil, 2000])
    let made = try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).sorted()
    #expect(made == ["a.flac", "a.wav", "c.flac", "c.wav"])
    // A folder that is not there is made, one level of it.
    let missing = try folder.render(inputs[0], inputs[2], folder.file("new"))
    #expect(missing.status == 0, "\(missing.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new")).sorted() == ["a.wav", "c.wav"])
    #expect(try folder.render(inputs[0], folder.file("one/")).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("one")) == ["a.wav"])
    #expect(try folder.render(inputs[0], inputs[2], folder.file("no/where")).status == 73)
    #expect(try folder.render(inputs[0], inputs[2], inputs[1] + "/x").status == 73)
  }

  @Test(
    "names of any bytes are one file each, in whatever locale, and one that is too long is refused (U-79)",
    arguments: ["C", "C.UTF-8", "tr_TR.ISO-8859-9"])
  func names(locale: String) throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", tone(100))
    let names = ["Übung.wav", "録音.wav", "end.wav ", String(repeating: "n", count: 251) + ".wav"]
    for name in names {
      let ending = try ProcessRunner.run(
        BuiltProgram.backline(), ["render", input, folder.file(name), "--format", "wav"],
        environment: ["LC_ALL": locale, "LANG": locale])
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try folder.read(folder.file(name)) == tone(100))
    }
    let long = folder.file(String(repeating: "n", count: 252) + ".wav")
    #expect(try folder.render(input, long).status == 73)
    #expect(folder.names.map { Array($0.utf8) } == (names + ["in.wav"]).sorted().map { Array($0.utf8) })
  }

  @Test("kinds of file are listed from one place: all in a refusal of render, those that can be in the help of record")
  func kinds() throws {
    let folder = RenderFolder()
    let refused = try folder.render(folder.write("in.wav", tone(10)), folder.file("out.xyz"))
    #expect(refused.status == 64)
    #expect(refused.errors.contains("(wav, rf64, w64, aiff, caf, flac, ogg, opus, mp3, mkv, mp4, mov)"))
    let help = try ProcessRunner.run(BuiltProgram.backline(), ["help", "record"]).output
    let words = help.split { $0.isWhitespace }.joined(separator: " ")
    #expect(words.contains("--format wav|rf64|w64|caf|flac|ogg|opus The kind"))
    let movie = try ProcessRunner.run(BuiltProgram.backline(), ["record", folder.file("x.wav"), "--format", "mkv"])
    #expect(movie.status == 64 && movie.errors.contains("none of wav, rf64, w64, caf, flac, ogg, opus"))
  }

  @Test("events change the graph at their frames, and players play their files")
  func events() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", [Float](repeating: 0.5, count: 20_000))
    let sound = folder.write("sound.wav", [Float](repeating: 0.25, count: 20_000))
    let preset = try folder.preset("p.json", [("gain", [:])])
    let events = folder.write(
      "events.jsonl",
      text: """
        {"seconds": 0.1, "address": "/node/n0/gain", "arguments": [-96]}
        {"frame": 1001, "address": "/node/n0/gain/ramp", "arguments": [-6.0206, 0]}

        {"frame": 6000, "address": "/graph/add", "arguments": ["player", "tape"]}
        {"frame": 6000, "address": "/graph/disconnect", "arguments": ["n0", "output"]}
        {"frame": 6000, "address": "/graph/connect", "arguments": ["tape", "output"]}
        {"frame": 6400, "address": "/player/tape/load", "arguments": ["\(sound)"]}
        {"frame": 7000, "address": "/player/tape/play"}

        """)
    var outputs: [[Float]] = []
    for block in ["4096", "100"] {
      let output = folder.file("out-\(block).wav")
      let ending = try folder.render(input, output, "--preset", preset, "--events", events, "--max-frames", block)
      #expect(ending.status == 0, "\(ending.errors)")
      outputs.append(try folder.read(output))
    }
    #expect(outputs[0] == outputs[1])
    let left = stride(from: 0, to: outputs[0].count, by: 2).map { outputs[0][$0] }
    #expect(left[1000] == 0.5)
    #expect(abs(left[1001] - 0.25) < 1e-5)
    #expect(left[4799] == left[1001] && left[4900] < 0.25 && left[5500] == 0)
    #expect(left[6999] == 0 && left[8000] == 0.25 && left[9999] == 0.25)
  }

  @Test(
    "bad events are refused with their line",
    arguments: [
      #"{"frame": -1, "address": "/mute"}"#, #"{"frame": 1.5, "address": "/mute"}"#, #"{"address": "/mute"}"#,
      #"{"frame": 1}"#, #"{"frame": 1, "seconds": 1, "address": "/mute"}"#, #"{"frame": 1, "adress": "/mute"}"#, "[]",
      "{", #"{"frame": 1, "address": "/node/nobody/gain", "arguments": [1]}"#,
      #"{"frame": 1, "address": "/node/n0/gain", "arguments": [1000]}"#, #"{"frame": 1, "address": "/quit"}"#,
      #"{"frame": 1, "address": "/player/n0/play"}"#, #"{"seconds": 1e30, "address": "/mute", "arguments": [1]}"#,
    ])
  func badEvents(line: String) throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", tone(1000))
    let preset = try folder.preset("p.json", [("gain", [:])])
    let events = folder.write("events.jsonl", text: "\n" + line + "\n")
    let ending = try folder.render(input, folder.file("out.wav"), "--preset", preset, "--events", events)
    #expect(ending.status == 65, "\(ending.errors)")
    #expect(ending.errors.hasPrefix("backline: error: \(events):2:"))
    // A sentence for people, nothing of the program's insides.
    #expect(!ending.errors.contains("JSONError"))
    #expect(folder.names == ["events.jsonl", "in.wav", "p.json"])
  }

  @Test("a loudness is reached, and a second normalisation has nothing left to do")
  func normalize() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", tone(96_000, amplitude: 0.05))
    let first = try folder.render(input, folder.file("a.wav"), "--normalize", "-20", "--json")
    #expect(first.status == 0)
    #expect((try RenderAnswer(first.output)["gain"]?.number ?? 0) > 3)
    let second = try folder.render(folder.file("a.wav"), folder.file("b.wav"), "--normalize", "-20", "--json")
    #expect(abs(try RenderAnswer(second.output)["gain"]?.number ?? 1) < 0.11)
    let silent = folder.write("silent.wav", [Float](repeating: 0, count: 2000))
    let silence = try folder.render(silent, folder.file("s.wav"), "--normalize", "-20", "--json")
    #expect(try RenderAnswer(silence.output)["gain"]?.number == 0)
    #expect(try RenderAnswer(silence.output)["peak"]?.typeName == "null")
    #expect(folder.names == ["a.wav", "b.wav", "in.wav", "s.wav", "silent.wav"])
  }

  @Test("what the output does not hold of the input's texts and markers is told")
  func metadata() throws {
    let folder = RenderFolder()
    var bytes = RenderFolder.wave(tone(100))
    // LIST INFO with a title.
    bytes += Array("LIST".utf8) + [16, 0, 0, 0] + Array("INFOINAM".utf8) + [4, 0, 0, 0] + Array("Solo".utf8)
    bytes[4..<8] = ArraySlice(withUnsafeBytes(of: UInt32(bytes.count - 8).littleEndian) { Array($0) })
    let input = folder.write("in.wav", bytes: bytes)
    #expect(try folder.render(input, folder.file("out.flac"), "--sample-format", "int24").errors == "")
    #expect(try SoundFileReader(path: folder.file("out.flac")).metadata().texts.map(\.text) == ["Solo"])
    let dropped = try folder.render(input, folder.file("out.w64"), "--json")
    #expect(try RenderAnswer(dropped.output)["dropped"]?.array?.compactMap(\.string) == ["title"])
    #expect(try folder.render(input, folder.file("2.w64")).errors.contains("does not hold title"))
  }

  @Test("a preset's convolver has its response from the first frame on, by the preset or by an event")
  func convolver() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", Signals.noise(frames: 4000).flatMap { [$0, -$0] })
    _ = folder.write("delay.wav", [0, 0, 0, 0.5], channels: 1)
    func preset(_ name: String, _ file: String) -> String {
      folder.write(
        name,
        text: """
          {"format": "backline.preset", "version": 1, "name": "room", "description": "",
           "nodes": [{"name": "c", "kind": "convolver" \(file)}],
           "connections": [{"from": "input", "to": "c"}, {"from": "c", "to": "output"}]}
          """)
    }
    let samples = try folder.read(input)
    let expected = [Float](repeating: 0, count: 6) + samples.dropLast(6).map { $0 * 0.5 }
    let named = preset("named.json", #", "file": "delay.wav""#)
    var ending = try folder.render(input, folder.file("a.wav"), "--preset", named, "--sample-format", "float32")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(zip(try folder.read(folder.file("a.wav")), expected).allSatisfy { abs($0 - $1) < 1e-6 })
    let bare = preset("bare.json", "")
    let events = folder.write(
      "events.jsonl",
      text: #"{"frame": 0, "address": "/convolver/c/load", "arguments": ["\#(folder.file("delay.wav"))"]}"# + "\n")
    ending = try folder.render(
      input, folder.file("b.wav"), "--preset", bare, "--events", events, "--sample-format", "float32")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(zip(try folder.read(folder.file("b.wav")), expected).allSatisfy { abs($0 - $1) < 1e-6 })
    _ = folder.write("nan.wav", [0.5, .nan], channels: 1)
    _ = folder.write("many.wav", [Float](repeating: 0.1, count: 330), channels: 33)
    for (file, status) in [("none.wav", Int32(66)), ("nan.wav", 65), ("many.wav", 65), ("bare.json", 65)] {
      let bad = preset("bad.json", #", "file": "\#(file)""#)
      let refused = try folder.render(input, folder.file("c.wav"), "--preset", bad)
      #expect(refused.status == status && refused.errors.contains("node 'c'"), "\(file): \(refused)")
      #expect(!folder.names.contains("c.wav"))
    }
  }

  @Test("what a send gives goes into no file, and a return hears silence")
  func sendsAndReturns() throws {
    let folder = RenderFolder()
    let input = folder.write("in.wav", Signals.noise(frames: 4000).flatMap { [$0, -$0] })
    let preset = folder.write(
      "outboard.json",
      text: """
        {"format": "backline.preset", "version": 1, "name": "outboard", "description": "",
         "ports": {"inputs": [["back_1", "back_2"], ["in_1", "in_2"]],
                   "outputs": [["fx_1", "fx_2"], ["out_1", "out_2"]]},
         "nodes": [{"name": "fx", "kind": "send"}, {"name": "back", "kind": "return"}],
         "connections": [{"from": "input:1", "to": "fx"}, {"from": "fx:0", "to": "back:0"},
           {"from": "fx:1", "to": "output:0"}, {"from": "input:0", "to": "back:1"},
           {"from": "back", "to": "output:1"}]}
        """)
    let ending = try folder.render(input, folder.file("out.wav"), "--preset", preset, "--sample-format", "float32")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try folder.read(folder.file("out.wav")) == folder.read(input))
  }
}
