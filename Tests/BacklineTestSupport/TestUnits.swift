import BacklineDSP
import BacklineRealtime
import CBackline

/// Units that misbehave or measure, for tests of the graph.
public enum TestUnits {
  /// Delays by a parameter's frames and reports them as its latency: what a look-ahead does.
  public static let lookAhead = UnitDescription(
    kind: "lookAhead", title: "Look-ahead", summary: "Only delays.", inputs: [.init("input")],
    outputs: [.init("output")],
    parameters: [.init("frames", "The latency.", 0...4096, default: 512, affectsLatency: true)],
    latency: { _, values in Int(values[0]) }, make: { UnitInstance(LookAhead.self, $0) })

  /// Emits what its parameter says for one sample: 1 NaN, 2 infinity, 3 a very loud sample; passes sound otherwise.
  public static let faulty = UnitDescription(
    kind: "faulty", title: "Faulty", summary: "Emits bad samples.", inputs: [.init("input")],
    outputs: [.init("output")],
    parameters: [.init("fault", "What to emit.", 0...3, default: 0)], make: { UnitInstance(Faulty.self, $0) })

  /// One channel in, one out, a factor of 2.
  public static let mono = UnitDescription(
    kind: "mono", title: "Mono", summary: "Doubles.", inputs: [.init("input", channels: 1)],
    outputs: [.init("output", channels: 1)], parameters: [], make: { UnitInstance(MonoDoubler.self, $0) })

  /// A one-second echo that repeats at half the level, with nothing between the echoes.
  public static let echo = UnitDescription(
    kind: "echo", title: "Echo", summary: "Repeats.", inputs: [.init("input")], outputs: [.init("output")],
    parameters: [], make: { UnitInstance(Echo.self, $0) })

  /// Takes so many microseconds for one of so many blocks, and lets sound through.
  public static let slow = UnitDescription(
    kind: "slow", title: "Slow", summary: "Wastes time.", inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("microseconds", "How long a block takes.", 0...100_000, default: 0),
      .init("blocks", "One of so many blocks is slow.", 1...1_000_000, default: 1),
    ],
    make: { UnitInstance(SlowUnit.self, $0) })

  /// The standard units and these.
  public static let catalog = UnitCatalog.standard.adding([lookAhead, faulty, mono, echo, slow])
}

/// `state` as the unit it is.
@inline(__always)
private func unit<Unit: ~Copyable>(_ state: UnsafeMutableRawPointer, _ type: Unit.Type) -> UnsafeMutablePointer<Unit> {
  state.assumingMemoryBound(to: Unit.self)
}

struct LookAhead: ProcessingUnit, ~Copyable {
  static var description: UnitDescription { TestUnits.lookAhead }
  static let functions = UnitFunctions(
    render: lookAheadRender, set: lookAheadSet, reset: lookAheadReset, tail: { _ in 4096 })
  private var left = DelayLine(maximum: 4096)
  private var right = DelayLine(maximum: 4096)
  private var frames = 512

  init(_ format: UnitFormat) {}
  deinit {
    left.deallocate()
    right.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    for i in 0..<Int(block.frameCount) {
      left.write(block.input(0, 0)[i])
      right.write(block.input(0, 1)[i])
      block.output(0, 0)[i] = left.read(frames)
      block.output(0, 1)[i] = right.read(frames)
    }
  }

  @_noLocks
  mutating func set(_ value: Float) { frames = Int(value) }

  @_noLocks
  mutating func reset() {
    left.clear()
    right.clear()
  }
}

@_noLocks
private func lookAheadRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  unit(state, LookAhead.self).pointee.render(block.pointee)
}
@_noLocks
private func lookAheadSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ ramp: Int32) {
  unit(state, LookAhead.self).pointee.set(value)
}
@_noLocks
private func lookAheadReset(_ state: UnsafeMutableRawPointer) { unit(state, LookAhead.self).pointee.reset() }

struct Faulty: ProcessingUnit, ~Copyable {
  static var description: UnitDescription { TestUnits.faulty }
  static let functions = UnitFunctions(render: faultyRender, set: faultySet, reset: { _ in }, tail: { _ in 0 })
  private var fault = 0

  init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    for i in 0..<Int(block.frameCount) {
      var sample = block.input(0, 0)[i]
      if fault == 1 { sample = .nan }
      if fault == 2 { sample = .infinity }
      if fault == 3 { sample = 1e30 }
      fault = 0
      block.output(0, 0)[i] = sample
      block.output(0, 1)[i] = block.input(0, 1)[i]
    }
  }

  @_noLocks
  mutating func set(_ value: Float) { fault = Int(value) }
}

@_noLocks
private func faultyRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  unit(state, Faulty.self).pointee.render(block.pointee)
}
@_noLocks
private func faultySet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ ramp: Int32) {
  unit(state, Faulty.self).pointee.set(value)
}

struct MonoDoubler: ProcessingUnit, ~Copyable {
  static var description: UnitDescription { TestUnits.mono }
  static let functions = UnitFunctions(
    render: monoRender, set: { _, _, _, _ in }, reset: { _ in }, tail: { _ in 0 })

  init(_ format: UnitFormat) {}
}

@_noLocks
private func monoRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  for i in 0..<Int(block.pointee.frameCount) {
    block.pointee.output(0, 0)[i] = 2 * block.pointee.input(0, 0)[i]
  }
}

struct Echo: ProcessingUnit, ~Copyable {
  static var description: UnitDescription { TestUnits.echo }
  static let functions = UnitFunctions(
    render: echoRender, set: { _, _, _, _ in }, reset: echoReset, tail: { _ in 48_000 * 24 })
  private var left = DelayLine(maximum: 48_000)
  private var right = DelayLine(maximum: 48_000)

  init(_ format: UnitFormat) {}
  deinit {
    left.deallocate()
    right.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    for i in 0..<Int(block.frameCount) {
      let l = left.read(47_999), r = right.read(47_999)
      left.write(block.input(0, 0)[i] + 0.5 * l)
      right.write(block.input(0, 1)[i] + 0.5 * r)
      block.output(0, 0)[i] = l
      block.output(0, 1)[i] = r
    }
  }

  @_noLocks
  mutating func reset() {
    left.clear()
    right.clear()
  }
}

@_noLocks
private func echoRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  unit(state, Echo.self).pointee.render(block.pointee)
}
@_noLocks
private func echoReset(_ state: UnsafeMutableRawPointer) { unit(state, Echo.self).pointee.reset() }

struct SlowUnit: ProcessingUnit, ~Copyable {
  static var description: UnitDescription { TestUnits.slow }
  static let functions = UnitFunctions(render: slowRender, set: slowSet, reset: { _ in }, tail: { _ in 0 })
  private var nanoseconds: Int64 = 0
  private var blocks = 1
  private var block = 0

  init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ render: borrowing RenderBlock) {
    block &+= 1
    if block >= blocks {
      block = 0
      let end = backline_now() &+ nanoseconds
      while backline_now() < end {}
    }
    for channel in 0..<2 {
      backline_copy(render.output(0, channel), render.input(0, channel), Int64(render.frameCount))
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int32, _ value: Float) {
    if parameter == 0 { nanoseconds = Int64(value) &* 1_000 } else { blocks = Int(value) }
  }
}

@_noLocks
private func slowRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  unit(state, SlowUnit.self).pointee.render(block.pointee)
}
@_noLocks
private func slowSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ ramp: Int32) {
  unit(state, SlowUnit.self).pointee.set(parameter, value)
}
