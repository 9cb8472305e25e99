import BacklineDSP
import BacklineRealtime
import CBackline

/// A node as the render thread knows it. It outlives the plans that name it, so that a change elsewhere in the graph
/// leaves its sound alone.
///
/// Made and freed by the control queue; between the adoption of the first plan with it and the retirement of the last
/// one it belongs to the thread that renders it, but for `nonFiniteCount`, `isAtRest` and what `NodeCost` has measured, which any
/// thread may read.
public struct NodeState {
  // What every cycle reads comes first, so that it lies in two cache lines.
  let unit: UnsafeMutableRawPointer
  /// A source is rendered always; anything else sleeps while nothing comes in and its tail has ended.
  let hasInputs: Bool
  /// A unit that sums its inputs one by one.
  let isStreaming: Bool
  /// True from the end of the tail to the next sample that is not zero. The unit is freshly reset then.
  var isAsleep: Bool
  /// True when another silent slice would change nothing: asleep, not bypassed, no dry line to feed. Set by the slice that
  /// found it so, cleared by whatever may change it.
  var isQuiet = false
  /// 0 sounding, 1 bypassed.
  var bypass = Ramp(0)
  /// The frames by which the unit delays.
  var latency: Int32 = 0
  let functions: UnitFunctions
  /// The frame after the last input sample that was not zero.
  var lastActive: Int64 = .min / 4
  /// The frame at which the unit goes to sleep, once it has been asked for its tail.
  var sleepFrame: Int64 = .max
  /// Silence until this frame, a quantum edge, after a sample that was not finite.
  var mutedUntil: Int64 = .min
  /// The input delayed by the latency, for bypass.
  var dry: UnsafeMutablePointer<AlignmentLine>?
  /// Its place in the slot table, for reports.
  let slot: Int32
  let rampFrames: Int32

  /// Samples were not finite in the present slice, and nobody has been told yet.
  var hasFailed = false
  var cost = NodeCost()

  private var nonFiniteValue: Int64 = 0
  private var restValue: Int64 = 0

  /// Memory for one node, at the beginning of a cache line; freed by `deallocate()`.
  public static func allocate() -> UnsafeMutablePointer<NodeState> {
    UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<NodeState>.stride, alignment: 64)
      .bindMemory(to: NodeState.self, capacity: 1)
  }

  /// The render state around a unit's instance.
  public init(_ instance: UnitInstance, slot: Int32, hasInputs: Bool, rampFrames: Int32) {
    functions = instance.functions
    unit = instance.state
    self.slot = slot
    self.hasInputs = hasInputs
    self.rampFrames = rampFrames
    isStreaming = instance.functions.accumulate != nil
    isAsleep = hasInputs && !isStreaming && !instance.functions.isSleepless
    restValue = isAsleep ? 1 : 0
  }

  /// True while the node is not bypassed and no ramp runs.
  var isFullySounding: Bool { @_noLocks get { bypass.isSettled && bypass.value == 0 } }

  /// True while the node is bypassed and no ramp runs.
  var isFullyBypassed: Bool { @_noLocks get { bypass.isSettled && bypass.value == 1 } }

  /// The times that samples were not finite. Any thread.
  public static func nonFiniteCount(_ node: UnsafeMutablePointer<NodeState>) -> Int64 {
    backline_load_int(&node.pointee.nonFiniteValue)
  }

  /// True when nothing sounds in the node any more. Any thread.
  public static func isAtRest(_ node: UnsafeMutablePointer<NodeState>) -> Bool {
    backline_load_int(&node.pointee.restValue) != 0
  }

  @_noLocks
  mutating func countNonFinite() { backline_store_int(&nonFiniteValue, nonFiniteValue &+ 1) }

  @_noLocks
  mutating func publishRest(_ isAtRest: Bool) {
    let value: Int64 = isAtRest ? 1 : 0
    if restValue != value { backline_store_int(&restValue, value) }
  }

  /// Takes a new latency. `line` is the dry line from now on where there is one; else the present line is moved.
  @_noLocks
  mutating func setLatency(_ frames: Int32, _ line: UnsafeMutablePointer<AlignmentLine>?, over rampFrames: Int32) {
    isQuiet = false
    latency = frames
    if let line {
      if let old = dry { line.pointee.adopt(old) }
      dry = line
    }
    if let dry { dry.pointee.move(to: Int(frames), over: rampFrames) }
  }

  /// Puts the unit to sleep: nothing of past sound is left.
  @_noLocks
  mutating func sleep() {
    backline_reset(functions.reset, unit)
    isAsleep = !functions.isSleepless
    sleepFrame = .max
  }

  /// Asks the unit for its tail, in the state that it has at `frame`.
  @_noLocks
  mutating func decideSleep(at frame: Int64) {
    if functions.isSleepless {
      sleepFrame = Int64.max &- 1
      return
    }
    let tail = backline_tail(functions.tail, unit)
    let isEndless = tail > Int64.max / 4
    sleepFrame = isEndless ? Int64.max &- 1 : Quantum.ceiling(frame &+ tail &+ Int64(latency))
  }

  /// Takes an event at its frame.
  @_noLocks
  mutating func take(_ event: RenderEvent, at frame: Int64) {
    isQuiet = false
    switch event.parameter {
    case RenderEvent.Target.bypass:
      if isFullyBypassed && event.value == 0 {
        // What the unit held when it was bypassed is long past.
        if hasInputs && !isStreaming { sleep() } else { backline_reset(functions.reset, unit) }
      }
      bypass.move(to: event.value, over: event.rampFrames)
    case RenderEvent.Target.reset:
      if hasInputs && !isStreaming { sleep() } else { backline_reset(functions.reset, unit) }
    default:
      // Nobody hears a ramp in a unit that sleeps, and its clock stands still.
      let isUnheard = isAsleep || isFullyBypassed
      backline_set(functions.set, unit, event.parameter, event.value, isUnheard ? 0 : event.rampFrames)
      if sleepFrame != Int64.max { decideSleep(at: frame) }
    }
  }
}
