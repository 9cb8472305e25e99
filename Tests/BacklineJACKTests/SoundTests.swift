import BacklineEngine
import BacklineRealtime
import BacklineTestSupport
import CBackline
import CJACK
import Synchronization
import Testing

@testable import BacklineJACK

extension JACKTests {
  @Test("passes audio sample by sample at every period", arguments: [16, 64, 1_024])
  func passesAudio(period: Int) async throws {
    try await JACKServer.with(period: period) { _ in
      let test = try HostUnderTest()
      _ = try await test.run()
      let player = try JACKTestClient("player", outputs: 2)
      let recorder = try JACKTestClient("recorder", inputs: 2)
      let noise = (1...2).map { Signals.noise(frames: 1_200, seed: UInt64($0)) }
      var isExact = false
      // A gap that the machine makes tears any signal; only a take without one can be judged.
      for _ in 0..<30 where !isExact {
        let recording = try recorder.startRecording(
          from: ["backline-host:out_1", "backline-host:out_2"], frames: 12_000)
        try player.play(noise, into: ["backline-host:in_1", "backline-host:in_2"])
        let heard = try await recording.samples()
        let start = heard[0].firstIndex { $0 != 0 } ?? 0
        isExact = (0..<2).allSatisfy { heard[$0].dropFirst(start).prefix(1_200).elementsEqual(noise[$0]) }
      }
      #expect(isExact)
      player.close()
      recorder.close()
      #expect(await test.close())
    }
  }

  @Test("changes of the period are told and do not hurt the sound")
  func periodChanges() async throws {
    try await JACKServer.with(period: 1_024) { server in
      let test = try HostUnderTest()
      _ = try await test.run()
      let player = try JACKTestClient("player", outputs: 1)
      let recorder = try JACKTestClient("recorder", inputs: 1)
      try player.play(
        [Signals.sine(1_000, frames: 48_000, amplitude: 0.5)], into: ["backline-host:in_1"], repeats: true)
      for period in [2_048, 512, 64, 4_096, 32, 8_192] {
        test.events.clear()
        try server.setPeriod(period)
        #expect(await test.events.first { $0 == .periodChanged(period) } != nil)
        #expect(recorder.period == period)
        var isClean = false
        for _ in 0..<10 where !isClean {
          let heard = try await recorder.record(from: ["backline-host:out_1"], frames: 24_000)
          let tail = Array(heard[0].suffix(4_800))
          isClean = abs(Signals.amplitude(of: 1_000, in: tail) - 0.5) < 0.001 && Signals.largestStep(tail) < 0.0656
        }
        #expect(isClean, "at a period of \(period)")
      }
      player.close()
      recorder.close()
      #expect(await test.close())
    }
  }

  @Test("own lateness is counted when rendering takes longer than the period")
  func lateness() async throws {
    try await JACKServer.with(period: 64) { _ in
      let test = try HostUnderTest()
      _ = try await test.run()
      test.probe.waste(nanoseconds: 5_000_000)
      #expect(await Eventually.holds { test.host.lateCounts.own > 3 })
      #expect(test.host.load.largest > 1)
      test.probe.waste(nanoseconds: 0)
      #expect(await test.close())
    }
  }

  @Test(
    "freewheeling is told, and its speed is neither load nor lateness",
    .disabled(if: JACKServer.isPipeWire, "PipeWire 0.3 cannot freewheel"))
  func freewheel() async throws {
    try await JACKServer.with { _ in
      let test = try HostUnderTest()
      _ = try await test.run()
      let watcher = try JACKTestClient("watcher")
      watcher.setFreewheel(true)
      #expect(await test.events.first { $0 == .freewheel(true) } != nil)
      let rendered = test.probe.frames
      #expect(await Eventually.holds { test.probe.frames > rendered + 100_000 })
      watcher.setFreewheel(false)
      #expect(await test.events.first { $0 == .freewheel(false) } != nil)
      watcher.close()
      #expect(await test.close())
    }
  }

  @Test("a cycle of any length from 0 up is rendered, a long one in slices")
  func anyLength() async throws {
    try await JACKServer.with { _ in
      var status = JackStatus(0)
      let client = try #require(
        backline_jack_open("backline-host", JackNoStartServer, &status, JACKServer.name))
      let flags = UnsafeMutablePointer<JACKProcessFlags>.allocate(capacity: 1)
      flags.initialize(to: JACKProcessFlags())
      let probe = RenderProbe()
      let record = HostRecord()
      let process = UnsafeMutablePointer<JACKProcess>.allocate(capacity: 1)
      process.initialize(
        to: JACKProcess(
          client: client, clockOffset: 0, flags: flags, record: record, wakeDescriptor: -1, render: probe.render,
          state: probe.state))
      let table = UnsafeMutablePointer<JACKPortTable>.allocate(capacity: 1)
      table.initialize(to: JACKPortTable(JACKPorts()))
      flags.pointee.ports.store(table, ordering: .releasing)
      for length in [0, 1, 8_192, 20_000, 0, 100_000, 7] { #expect(jackProcess(UInt32(length), process) == 0) }
      #expect(probe.frames == 128_200 && probe.longestCycle == 8_192)
      // 0, 1, 8192, 0 and 7 in one piece each, 20 000 in 3 and 100 000 in 13.
      #expect(probe.cycles == 5 + 3 + 13)
      #expect(record.meter.pointee.frames.load(ordering: .relaxed) == 128_200)
      process.deinitialize(count: 1)
      process.deallocate()
      flags.deinitialize(count: 1)
      flags.deallocate()
      table.deinitialize(count: 1)
      table.deallocate()
      jack_client_close(client)
    }
  }
}
