import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

@Suite("What nodes take of the time there is")
struct NodeLoadTests {
  /// A unit that takes so many microseconds a block.
  private static let slow = UnitDescription(
    kind: "slow", title: "Slow", summary: "Wastes time.", inputs: [.init("input")], outputs: [.init("output")],
    parameters: [.init("microseconds", "How long a block takes.", 0...100_000, default: 0)],
    make: { UnitInstance(SlowUnit.self, $0) })

  @Test("a slow node is found among quick ones, with its mean and its largest part, on one thread and on several")
  func slowNode() async throws {
    for threads in [RenderThreads.one, .always(3)] {
      let harness = try await EngineHarness(catalog: UnitCatalog.standard.adding([Self.slow]), threads: threads)
      var commands = [harness.add("mixer", "sum"), harness.connect("sum", "output")]
      for name in ["a", "b"] { commands += [harness.add("gain", name)] + harness.chain("input", name, "sum") }
      commands += [.add(kind: "slow", name: "culprit", values: [(0, 2_000)])] + harness.chain("input", "culprit", "sum")
      try await harness.perform(commands)
      #expect(try await harness.engine.load(of: "culprit").largest == 0)
      _ = harness.render(both: Signals.noise(frames: 64 * 200))
      let loads = await harness.engine.nodeLoads
      let culprit = try #require(loads.max { $0.mean < $1.mean })
      #expect(culprit.name == "culprit")
      // 2 ms of every 1 333 microseconds, and never less.
      #expect(culprit.mean > 1.4)
      #expect(culprit.largest >= culprit.mean)
      #expect(loads.filter { $0.name != "culprit" }.allSatisfy { $0.largest > 0 })
    }
  }
}

private struct SlowUnit: ProcessingUnit, ~Copyable {
  static var description: UnitDescription { fatalError("not listed") }
  static let functions = UnitFunctions(render: slowRender, set: slowSet, reset: { _ in }, tail: { _ in 0 })
  private var nanoseconds: Int64 = 0

  init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let end = backline_now() &+ nanoseconds
    while backline_now() < end {}
    for channel in 0..<2 { backline_copy(block.output(0, channel), block.input(0, channel), Int64(block.frameCount)) }
  }

  @_noLocks
  mutating func set(_ microseconds: Float) { nanoseconds = Int64(microseconds) &* 1_000 }
}

@_noLocks
private func slowRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: SlowUnit.self).pointee.render(block.pointee)
}

@_noLocks
private func slowSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ ramp: Int32) {
  state.assumingMemoryBound(to: SlowUnit.self).pointee.set(value)
}
