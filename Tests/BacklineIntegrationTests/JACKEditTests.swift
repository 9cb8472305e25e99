import BacklineDSP
import BacklineOSC
import BacklineTestSupport
import CBackline
import Foundation
import Testing

@testable import BacklineCommand

extension JACKRackTests {
  @Test("a thousand random edits over OSC while audio runs: no late cycle, no click, no memory that grows")
  func randomEdits() async throws {
    let files = try JACKRackFiles()
    try await JACKServer.with(period: 64) { _ in
      let preset = try files.preset(
        "chain", nodes: [("a", "gain"), ("b", "equalizer"), ("c", "gain")],
        connections: [("input", "a"), ("a", "b"), ("b", "c"), ("c", "output")])
      let rack = try JACKRack([preset, "--connect", "none"])
      let source = try JACKTestClient("source", outputs: 1)
      let recorder = try JACKTestClient("recorder", inputs: 1)
      try source.play([Signals.sine(100, frames: 48_000, amplitude: 0.25)], into: ["rack:in_1"], repeats: true)
      var editor = RandomEditor(rack, seed: 3)
      var memory: [Int] = []
      for _ in 0..<3 {
        var isEverOnTime = false
        for _ in 0..<8 {
          let before = try rack.lateness()
          let begin = backline_now()
          let take = try recorder.startRecording(from: ["rack:out_1"], frames: 480_000)
          try editor.edit(125)
          let sound = take.soFar
          let edited = backline_now() - begin
          let after = try rack.lateness()
          try await Task.sleep(nanoseconds: UInt64(edited))
          let idle = try rack.lateness()
          let late = zip(after, before).map { $0 - $1 }, lateIdle = zip(idle, after).map { $0 - $1 }
          // The same time without any edits is the measure of what the machine does to us by itself.
          if zip(late, lateIdle).allSatisfy({ $0 <= $1 }) { isEverOnTime = true }
          // A late cycle leaves a gap with two ends; beside those there are no steps.
          let clicks = RandomEditor.clicks(in: sound)
          #expect(clicks <= 2 * late.reduce(0, +), "\(clicks) clicks, \(late) late cycles")
          #expect(Signals.rms(sound) > 1e-4)
        }
        #expect(isEverOnTime, "cycles are late whenever there are edits")
        try editor.clear()
        try rack.ask("/sync")
        // Everything that was taken away has faded out within the ramp, and nothing here rings on.
        try await Task.sleep(nanoseconds: 300_000_000)
        memory.append(try rack.privateMemory())
      }
      #expect(editor.done == 3_000 && editor.refused < editor.done / 2)
      // The undo history of 1 000 transactions is full after the first round; what is left is the allocator's slack, which is
      // more under RealtimeSanitizer.
      let slack = ProcessInfo.processInfo.environment["BACKLINE_TEST_SANITIZER"] == nil ? 2 : 4
      #expect(memory[2] - memory[1] < slack << 20, "\(memory)")
      source.close()
      recorder.close()
      #expect(try rack.quit() == 0)
    }
  }
}

/// Makes edits at random, of such kinds that the sound has a known largest step.
///
/// The graph is one chain from the input to the output, of nodes whose gain lies between silence and 0 dB, so that a sine of
/// amplitude 0.25 never gets louder.
struct RandomEditor {
  /// R4: the sine's own step at the largest gain, and its peak times the slope of the ramps of 10 ms that may move at one time:
  /// a connection and the one that takes its place cross over (2), the gain of a node and its bypass move (2), and each of
  /// those may be passed by the sound of what was edited within the same 10 ms before (2 × as many).
  static let largestStep: Float = 0.25 * (2 * .pi * 100 / 48_000) + 8 * 0.25 / 480

  /// The places with larger steps; those within a hundredth of a second count as one.
  static func clicks(in sound: [Float]) -> Int {
    var count = 0
    var last = -480
    for index in 1..<max(1, sound.count) where abs(sound[index] - sound[index - 1]) > largestStep {
      if index - last >= 480 { count += 1 }
      last = index
    }
    return count
  }

  private let rack: JACKRack
  private var random: SeededGenerator
  private var chain = ["a", "b", "c"]
  private var next = 0
  private(set) var done = 0
  private(set) var refused = 0

  init(_ rack: JACKRack, seed: UInt64) {
    self.rack = rack
    random = SeededGenerator(seed)
  }

  mutating func edit(_ count: Int) throws {
    for _ in 0..<count {
      done += 1
      do {
        try step()
      } catch let error as CommandError where error.exitCode == .badData {
        refused += 1
      }
    }
  }

  /// Takes the chain back to one node.
  mutating func clear() throws {
    while let name = chain.last, chain.count > 1 {
      try take(name)
    }
  }

  private mutating func step() throws {
    let place = Int.random(in: 0...chain.count, using: &random)
    let from = place == 0 ? "input" : chain[place - 1], to = place == chain.count ? "output" : chain[place]
    switch Int.random(in: 0..<8, using: &random) {
    case 0 where chain.count < 12:
      let name = newName()
      try rack.ask("/graph/insert", .string(kind()), .string(name), .string(from), .string(to))
      chain.insert(name, at: place)
    case 1 where chain.count > 1:
      try take(chain[Int.random(in: 0..<chain.count, using: &random)])
    case 2:
      let name = chain[Int.random(in: 0..<chain.count, using: &random)]
      if name == from || name == to { return try set() }
      try rack.ask("/graph/move", .string(name), .string(from), .string(to))
      chain.removeAll { $0 == name }
      chain.insert(name, at: to == "output" ? chain.count : chain.firstIndex(of: to) ?? 0)
    case 3:
      let name = chain[Int.random(in: 0..<chain.count, using: &random)]
      try rack.ask("/graph/replace", .string(name), .string(kind()))
    case 4:
      let name = chain[Int.random(in: 0..<chain.count, using: &random)]
      try rack.ask("/node/\(name)/bypass", .int32(Bool.random(using: &random) ? 1 : 0))
    case 5:
      try rack.ask("/graph/disconnect", .string(from), .string(to))
      try rack.ask("/graph/connect", .string(from), .string(to))
    case 6:
      let name = newName()
      try rack.ask("/graph/add", .string(kind()), .string(name))
      try rack.ask("/graph/remove", .string(name))
    default:
      try set()
    }
  }

  private mutating func set() throws {
    let name = chain[Int.random(in: 0..<chain.count, using: &random)]
    // Only a gain has it; with others the refusal is the right answer.
    try rack.ask("/node/\(name)/gain", .float(Float.random(in: -40...0, using: &random)))
  }

  /// Removes a node and closes the gap.
  private mutating func take(_ name: String) throws {
    guard let index = chain.firstIndex(of: name) else { return }
    let from = index == 0 ? "input" : chain[index - 1], to = index == chain.count - 1 ? "output" : chain[index + 1]
    try rack.ask("/graph/remove", .string(name))
    chain.remove(at: index)
    try rack.ask("/graph/connect", .string(from), .string(to))
  }

  private mutating func newName() -> String {
    next += 1
    return "n\(next)"
  }

  private mutating func kind() -> String { ["gain", "equalizer", "meter"][Int.random(in: 0..<3, using: &random)] }
}
