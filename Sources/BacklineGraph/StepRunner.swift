import BacklineDSP
import BacklineRealtime
import CBackline

/// Runs a plan's steps for one slice, but for those of the host's side. Any rendering thread, with scratch memory of its own.
struct StepRunner {
  let plan: UnsafeMutablePointer<RenderPlan>
  let scratch: RenderScratch
  let frame: Int64
  let count: Int
  /// True where the time of each node is taken.
  let isMetered: Bool

  @_noLocks
  init(_ plan: UnsafeMutablePointer<RenderPlan>, thread: Int, frame: Int64, count: Int, isMetered: Bool) {
    self.plan = plan
    scratch = plan.pointee.scratches[thread]
    self.frame = frame
    self.count = count
    self.isMetered = isMetered
  }

  /// Runs the steps of a task; true when a node gave samples that are not finite, which is marked in those nodes.
  @_noLocks
  func run(_ first: Int, _ end: Int) -> Bool {
    var isBad = false
    var begin = isMetered ? backline_now() : 0
    for index in first..<end {
      let step = plan.pointee.steps + index
      prefetch(index, end)
      if perform(step) {
        step.pointee.node.unsafelyUnwrapped.pointee.hasFailed = true
        isBad = true
      }
      if isMetered { begin = meter(step, from: begin) }
    }
    return isBad
  }

  /// Runs one step; true when its node gave samples that are not finite.
  @_noLocks
  func perform(_ step: UnsafeMutablePointer<RenderStep>) -> Bool {
    switch step.pointee.kind {
    case .render:
      if staysQuiet(step) { return false }
      let renderer = NodeRenderer(plan, step, scratch, frame: frame, count: count)
      resolveInputs(step)
      return renderer.render()
    case .gather:
      let edge = EdgeRenderer(step, scratch, frame: frame, count: count)
      edge.gather(
        step.pointee.source < 0 ? nil : plan.pointee.buses + Int(step.pointee.source),
        into: plan.pointee.buses + Int(step.pointee.target), isFirst: step.pointee.isFirst)
    case .accumulate: accumulate(step)
    case .keep:
      let edge = EdgeRenderer(step, scratch, frame: frame, count: count)
      edge.keep(plan.pointee.buses + Int(step.pointee.source))
    case .input, .output, .record, .recordInput, .recordOutput: break
    }
    return false
  }

  /// Adds the time since `begin` to what the step's node takes; returns the time.
  @_noLocks
  func meter(_ step: UnsafeMutablePointer<RenderStep>, from begin: Int64) -> Int64 {
    let now = backline_now()
    if let node = step.pointee.node {
      node.pointee.cost.add(now &- begin)
      if case .render = step.pointee.kind {
        node.pointee.cost.endSlice(frames: count, isAsleep: node.pointee.isQuiet)
      }
    }
    return now
  }

  /// Brings the state of the nodes whose turn comes soon into the cache: it is spread over the heap, and a chain of a
  /// thousand small units would wait for memory most of its time. Looks no further than `end`, for what comes then may be
  /// another thread's.
  @_noLocks
  func prefetch(_ index: Int, _ end: Int) {
    let far = index &+ 6, near = index &+ 3
    if far < end, let node = plan.pointee.steps[far].node { backline_prefetch(node, 3) }
    if near < end, let node = plan.pointee.steps[near].node, !node.pointee.isQuiet {
      backline_prefetch(node.pointee.unit, 6)
    }
  }

  /// The short way past a node that sleeps and gets only silence: its outputs are silent, and that is all; true when it was
  /// taken. Most of a large rack is such nodes.
  @_noLocks
  private func staysQuiet(_ step: UnsafeMutablePointer<RenderStep>) -> Bool {
    if !step.pointee.node.unsafelyUnwrapped.pointee.isQuiet { return false }
    let buses = plan.pointee.buses
    let table = plan.pointee.inputTable + Int(step.pointee.firstInput)
    for bus in 0..<Int(step.pointee.inputCount) {
      let source = Int(table[bus])
      if source >= 0 && !buses[source].buffer.isSilent { return false }
    }
    for bus in Int(step.pointee.target)..<Int(step.pointee.target &+ step.pointee.outputCount) {
      buses[bus].buffer.channels = UnsafePointer(scratch.silentChannels)
      buses[bus].buffer.isSilent = true
    }
    return true
  }

  @_noLocks
  private func resolveInputs(_ step: UnsafeMutablePointer<RenderStep>) {
    let table = plan.pointee.inputTable + Int(step.pointee.firstInput)
    let inputs = scratch.inputs
    for bus in 0..<Int(step.pointee.inputCount) {
      let source = Int(table[bus])
      if source >= 0 {
        (inputs + bus).initialize(to: plan.pointee.buses[source].buffer)
      } else {
        // The table tells how many channels an unconnected bus has as -1 - count.
        (inputs + bus).initialize(
          to: BusBuffer(
            channels: UnsafePointer(scratch.silentChannels), channelCount: Int32(truncatingIfNeeded: -1 &- source),
            isConnected: false, isSilent: true))
      }
    }
  }

  @_noLocks
  private func accumulate(_ step: UnsafeMutablePointer<RenderStep>) {
    let node = step.pointee.node.unsafelyUnwrapped
    guard let function = node.pointee.functions.accumulate else { return }
    let output = plan.pointee.buses + Int(step.pointee.target)
    if step.pointee.isFirst {
      output.pointee.buffer.channels = UnsafePointer(output.pointee.own)
      output.pointee.buffer.isSilent = false
    }
    var block = RenderBlock(
      frame: frame, frameCount: Int32(truncatingIfNeeded: count), inputCount: 1, outputCount: 1,
      inputs: UnsafePointer(PlanBus.buffer(plan.pointee.buses + Int(step.pointee.source))),
      outputs: PlanBus.buffer(output))
    backline_accumulate(function, node.pointee.unit, step.pointee.bus, step.pointee.isFirst, &block)
  }
}
