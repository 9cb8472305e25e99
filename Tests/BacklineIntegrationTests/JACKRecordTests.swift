import BacklineMedia
import BacklineOSC
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

extension JACKRackTests {
  @Test("backline record takes ports of other programs down, and what plays into a port, to the frame")
  func recordsPorts() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/backline-record-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func record(_ words: [String]) throws -> ProcessRunner.Ending {
      try ProcessRunner(try BuiltProgram.backline(), ["record"] + words + ["--server", JACKServer.name]).wait(30)
    }
    try await JACKServer.with { _ in
      let rack = try JACKRack(name: "rack")
      try rack.ask("/graph/add", .string("oscillator"), .string("tone"))
      try rack.ask("/graph/connect", .string("tone"), .string("output"))
      // The second is a port that the rack plays into.
      let ending = try record(
        [folder + "/takes/", "--ports", "rack:out_1,system:playback_2", "--duration", "0.5", "--json"])
      // 74 says that the server lost frames on a busy machine: they are in the file as silence.
      #expect([0, 74].contains(ending.status), "\(ending.errors)")
      let names = ["rack-out_1", "system-playback_2"].map { "\(folder)/takes/\($0).wav" }
      for name in names {
        let reader = try SoundFileReader(path: name)
        #expect(reader.format.frameCount == 24_000 && reader.format.channelCount == 1)
        var samples = [Float](repeating: 0, count: 24_000)
        var done = 0
        while done < 24_000 {
          done += try samples.withUnsafeMutableBufferPointer {
            try reader.read(at: Int64(done), into: #require($0.baseAddress) + done, count: 24_000 - done)
          }
        }
        #expect(samples.contains { abs($0) > 0.01 }, "\(name) is silent")
      }
      #expect(try record([folder + "/x.wav", "--ports", "nobody:out"]).status == 66)
      #expect(try record([folder + "/x.wav", "--format", "mkv", "--ports", "rack:out_1"]).status == 64)
      let taken = try record([names[0], "--ports", "rack:out_1"])
      #expect(taken.status == 73, "\(taken.errors)")
      #expect(try rack.quit() == 0)
    }
    #expect(try record([folder + "/x.wav"]).status == 69)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["takes"])
  }

  @Test(
    "frames that a server goes on without are silence in place, told with their cause, and the exit code says so (U-74)"
  )
  func lostFrames() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/backline-record-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await JACKServer.with { _ in
      let rack = try JACKRack(name: "rack")
      let recording = try ProcessRunner(
        try BuiltProgram.backline(),
        [
          "record", folder + "/take.wav", "--ports", "rack:out_1", "--duration", "3", "--json", "--server",
          JACKServer.name,
        ])
      let working = folder + "/take.wav.recording"
      // Until sound has come in: what passes before the first cycle is nobody's loss.
      try await waitUntil { ((try? Data(contentsOf: URL(fileURLWithPath: working)))?.count ?? 0) > 16_384 }
      // The server does without a client that is stopped; it goes on before the server gives it up.
      recording.send(SIGSTOP)
      usleep(200_000)
      recording.send(SIGCONT)
      let ending = try recording.wait(30)
      #expect(ending.status == 74, "\(ending.errors)")
      let report = try JSONReader.read(Array(ending.output.utf8))
      let gaps = try #require(report["gaps"]?.array)
      #expect(!gaps.isEmpty && gaps.allSatisfy { $0["cause"]?.string == "server" })
      let lost = gaps.reduce(0) { $0 + ($1["frames"]?.integer ?? 0) }
      #expect(lost > 0 && lost == report["lostToServer"]?.integer && report["lostToDisk"]?.integer == 0)
      #expect(report["frames"]?.integer == 144_000 && report["status"]?.string == "completed")
      #expect(try SoundFileReader(path: folder + "/take.wav").format.frameCount == 144_000)
      #expect(ending.errors.contains("frames are missing at frame"))
      #expect(try rack.quit() == 0)
    }
  }
}
