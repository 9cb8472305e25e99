import BacklineOSC
import BacklineTestSupport
import CBackline
import Foundation
import Testing

@testable import BacklineCommand

extension JACKRackTests {
  /// Twelve branches of convolution-sized work: enough for two threads to be faster than one.
  private func build(_ rack: JACKRack) throws {
    try rack.ask("/graph/add", .string("noise"), .string("source"))
    try rack.ask("/graph/add", .string("mixer"), .string("sum"))
    try rack.ask("/graph/connect", .string("sum"), .string("output"))
    for branch in 0..<12 {
      try rack.ask("/graph/add", .string("reverb"), .string("r\(branch)"))
      try rack.ask("/graph/connect", .string("source"), .string("r\(branch)"))
      try rack.ask("/graph/connect", .string("r\(branch)"), .string("sum"))
    }
  }

  @Test("a second thread with real-time scheduling shares a large graph, and comes and goes with the server")
  func secondThread() async throws {
    try await JACKServer.with { server in
      let rack = try JACKRack(["--threads", "2"])
      try build(rack)
      let isSingle = backline_usable_processors() < 2
      var first: (threads: Int, descriptors: Int)?
      for round in 0..<(Self.isLong ? 20 : 3) {
        if round > 0 {
          try await server.stop()
          #expect(try await rack.waits(for: "unavailable"))
          try await server.start(sampleRate: 48_000, period: 256)
          #expect(try await rack.waits(for: "running"))
        }
        let wanted = isSingle ? 1 : 2
        #expect(try await Eventually.holds { try rack.count("threads") + rack.count("unfitThreads") == wanted })
        let unfit = try rack.count("unfitThreads")
        if !isSingle && unfit == 0 {
          #expect(try await Eventually.holds { try rack.count("sharing") == 1 })
        }
        if round == 1 { first = try rack.resources() }
      }
      let before = try #require(first)
      #expect(try await Eventually.holds { try rack.resources().threads <= before.threads })
      let begin = backline_now()
      #expect(try rack.quit() == 0)
      #expect(backline_now() - begin < 5_000_000_000)
    }
  }

  @Test("one thread is what --threads 1 means")
  func oneThread() async throws {
    try await JACKServer.with { _ in
      let rack = try JACKRack(["--threads", "1"])
      try build(rack)
      #expect(try rack.count("threads") == 1)
      #expect(try rack.count("sharing") == 0)
      #expect(try rack.quit() == 0)
    }
  }
}
