import BacklineDSP
import BacklineRealtime
import CBackline

/// Renders one node for one slice: sleep, containment of samples that are not finite, bypass. Render thread.
struct NodeRenderer {
  let node: UnsafeMutablePointer<NodeState>
  let buses: UnsafeMutablePointer<PlanBus>
  let scratch: RenderScratch
  let inputs: UnsafeMutablePointer<BusBuffer>
  let inputCount: Int
  let firstOutput: Int
  let outputCount: Int
  let frame: Int64
  let count: Int

  @_noLocks
  init(
    _ plan: UnsafeMutablePointer<RenderPlan>, _ step: UnsafeMutablePointer<RenderStep>, _ scratch: RenderScratch,
    frame: Int64, count: Int
  ) {
    node = step.pointee.node.unsafelyUnwrapped
    buses = plan.pointee.buses
    self.scratch = scratch
    inputs = scratch.inputs
    inputCount = Int(step.pointee.inputCount)
    firstOutput = Int(step.pointee.target)
    outputCount = Int(step.pointee.outputCount)
    self.frame = frame
    self.count = count
  }

  /// Renders the slice; true when a sample was not finite.
  @_noLocks
  func render() -> Bool {
    node.pointee.isQuiet = false
    if node.pointee.isFullyBypassed && !node.pointee.isStreaming {
      passThrough()
      return false
    }
    if !node.pointee.hasInputs || node.pointee.isStreaming {
      openOutputs()
      let isBad = renderSpan(from: 0, to: count)
      finish()
      return isBad
    }
    if node.pointee.isAsleep && node.pointee.isFullySounding && firstActive(from: 0) == count {
      feedDry()
      silence()
      node.pointee.isQuiet = node.pointee.dry == nil
      return false
    }
    openOutputs()
    let isBad = renderAwake()
    finish()
    return isBad
  }

  // MARK: Sleep

  /// Renders a unit with inputs, through the end of its tail and a new beginning where they fall into the slice.
  ///
  /// Everything that decides is at absolute frames that do not depend on where slices begin: a slice and a quantum edge
  /// after the last sample that was not zero, the unit is asked for its tail; when that has passed it is reset; it begins
  /// again with the very sample that is not zero.
  @_noLocks
  private func renderAwake() -> Bool {
    let end = frame &+ Int64(count)
    var isBad = false
    var position = 0
    while position < count {
      if node.pointee.isAsleep {
        let wake = firstActive(from: position)
        clearOutputs(position, wake)
        position = wake
        if wake == count { break }
        node.pointee.isAsleep = false
        node.pointee.lastActive = end
      }
      let isDecided = node.pointee.sleepFrame != Int64.max
      let next =
        isDecided
        ? node.pointee.sleepFrame
        : Quantum.ceiling(node.pointee.lastActive &+ Int64(RenderPlan.maximumSlice))
      let at = next < end ? max(position, Int(next &- frame)) : count
      if at == count || firstActive(from: position) < at {
        if renderSpan(from: position, to: count) { isBad = true }
        break
      }
      if at > position && renderSpan(from: position, to: at) { isBad = true }
      position = at
      if isDecided { node.pointee.sleep() } else { node.pointee.decideSleep(at: frame &+ Int64(at)) }
    }
    let active = lastActive()
    if active > 0 && !node.pointee.isAsleep {
      node.pointee.lastActive = frame &+ Int64(active)
      node.pointee.sleepFrame = Int64.max
    }
    return isBad
  }

  /// The first frame from `start` on in which an input is not zero; `count` where none is.
  @_noLocks
  private func firstActive(from start: Int) -> Int {
    var first = count
    for bus in 0..<inputCount where !inputs[bus].isSilent {
      for channel in 0..<Int(inputs[bus].channelCount) {
        let samples = inputs[bus].channels[channel]
        var at = start
        while at < first && samples[at] == 0 { at &+= 1 }
        first = at
        if first == start { return start }
      }
    }
    return first
  }

  /// The frames up to and with the last input sample that is not zero.
  @_noLocks
  private func lastActive() -> Int {
    var last = 0
    for bus in 0..<inputCount where !inputs[bus].isSilent {
      for channel in 0..<Int(inputs[bus].channelCount) {
        last = max(last, Int(backline_active_length(inputs[bus].channels[channel], Int64(count))))
        if last == count { return last }
      }
    }
    return last
  }

  // MARK: Outputs

  /// Gives the outputs their own buffers.
  @_noLocks
  private func openOutputs() {
    for bus in 0..<outputCount {
      let at = buses + firstOutput + bus
      at.pointee.buffer.channels = UnsafePointer(at.pointee.own)
      at.pointee.buffer.isSilent = false
    }
  }

  @_noLocks
  private func silence() {
    for bus in 0..<outputCount { silence(bus) }
    node.pointee.publishRest(node.pointee.isAsleep || node.pointee.isFullyBypassed)
  }

  @_noLocks
  private func silence(_ bus: Int) {
    buses[firstOutput &+ bus].buffer.channels = UnsafePointer(scratch.silentChannels)
    buses[firstOutput &+ bus].buffer.isSilent = true
  }

  @_noLocks
  private func clearOutputs(_ start: Int, _ end: Int) {
    if end <= start { return }
    for bus in 0..<outputCount {
      for channel in 0..<Int(buses[firstOutput &+ bus].buffer.channelCount) {
        backline_zero(buses[firstOutput &+ bus].own[channel] + start, Int64(end &- start))
      }
    }
  }

  /// What a unit left silent reads as silence; then bypass.
  @_noLocks
  private func finish() {
    if !node.pointee.isFullySounding && !node.pointee.isStreaming {
      mixBypass()
    } else {
      feedDry()
    }
    for bus in 0..<outputCount where buses[firstOutput &+ bus].buffer.isSilent { silence(bus) }
    node.pointee.publishRest(node.pointee.isAsleep)
  }

  // MARK: Rendering

  /// Renders part of the slice; true when a sample was not finite.
  @_noLocks
  private func renderSpan(from start: Int, to end: Int) -> Bool {
    var position = start
    var isBad = false
    while position < end {
      if node.pointee.mutedUntil > frame &+ Int64(position) {
        let until = Int(min(Int64(end), node.pointee.mutedUntil &- frame))
        unmark()
        clearOutputs(position, until)
        position = until
        if frame &+ Int64(position) == node.pointee.mutedUntil && !node.pointee.isStreaming {
          backline_reset(node.pointee.functions.reset, node.pointee.unit)
        }
        continue
      }
      call(from: position, to: end)
      guard let bad = firstNonFinite(from: position, to: end) else { break }
      isBad = true
      node.pointee.countNonFinite()
      node.pointee.mutedUntil = Quantum.ceiling(frame &+ Int64(bad) &+ 1)
      if node.pointee.isStreaming {
        // The sum is done; only what cannot be heard is taken out of it.
        clearOutputs(bad, min(end, Int(node.pointee.mutedUntil &- frame)))
        position = min(end, Int(node.pointee.mutedUntil &- frame))
        if firstNonFinite(from: position, to: end) == nil { break }
        continue
      }
      position = bad
    }
    return isBad
  }

  /// A unit may have called an output silent that another part of the slice is not.
  @_noLocks
  private func unmark() {
    for bus in 0..<outputCount where buses[firstOutput &+ bus].buffer.isSilent {
      for channel in 0..<Int(buses[firstOutput &+ bus].buffer.channelCount) {
        backline_zero(buses[firstOutput &+ bus].own[channel], Int64(count))
      }
      buses[firstOutput &+ bus].buffer.isSilent = false
    }
  }

  @_noLocks
  private func call(from start: Int, to end: Int) {
    var block = RenderBlock(
      frame: frame &+ Int64(start), frameCount: Int32(truncatingIfNeeded: end &- start),
      inputCount: Int32(truncatingIfNeeded: inputCount), outputCount: Int32(truncatingIfNeeded: outputCount),
      inputs: UnsafePointer(inputs), outputs: nil)
    if start == 0 && end == count && outputCount <= 1 {
      // The common case: one output or none, the whole slice, nothing to move.
      if outputCount == 1 { block.outputs = PlanBus.buffer(buses + firstOutput) }
      backline_render(node.pointee.functions.render, node.pointee.unit, &block)
      return
    }
    let isWhole = start == 0 && end == count
    var next = scratch.movedPointers
    for bus in 0..<inputCount {
      (scratch.movedInputs + bus).initialize(to: inputs[bus])
      if inputs[bus].isSilent { continue }
      scratch.movedInputs[bus].channels = move(inputs[bus].channels, Int(inputs[bus].channelCount), by: start, &next)
    }
    for bus in 0..<outputCount {
      let own = buses[firstOutput &+ bus]
      (scratch.movedOutputs + bus).initialize(to: own.buffer)
      scratch.movedOutputs[bus].channels = move(
        UnsafePointer(own.own), Int(own.buffer.channelCount), by: start, &next)
      scratch.movedOutputs[bus].isSilent = false
    }
    block.inputs = UnsafePointer(scratch.movedInputs)
    block.outputs = scratch.movedOutputs
    backline_render(node.pointee.functions.render, node.pointee.unit, &block)
    for bus in 0..<outputCount where scratch.movedOutputs[bus].isSilent {
      if isWhole {
        buses[firstOutput &+ bus].buffer.isSilent = true
      } else {
        for channel in 0..<Int(buses[firstOutput &+ bus].buffer.channelCount) {
          backline_zero(buses[firstOutput &+ bus].own[channel] + start, Int64(end &- start))
        }
      }
    }
  }

  @_noLocks
  private func move(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int, by offset: Int,
    _ next: inout UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  ) -> UnsafePointer<UnsafeMutablePointer<Float>> {
    let moved = next
    for channel in 0..<count { (moved + channel).initialize(to: channels[channel] + offset) }
    next += count
    return UnsafePointer(moved)
  }

  /// The first frame at which an output is not finite.
  @_noLocks
  private func firstNonFinite(from start: Int, to end: Int) -> Int? {
    var first = end
    for bus in 0..<outputCount where !buses[firstOutput &+ bus].buffer.isSilent {
      for channel in 0..<Int(buses[firstOutput &+ bus].buffer.channelCount) {
        let samples = UnsafePointer(buses[firstOutput &+ bus].own[channel])
        if !backline_has_non_finite(samples + start, Int64(first &- start)) { continue }
        var at = start
        while at < first && samples[at].isFinite { at &+= 1 }
        first = at
      }
    }
    return first < end ? first : nil
  }

  // MARK: Bypass

  /// The channel of the main input that stands for an output channel, converted by R8 where counts differ.
  @_noLocks
  private func dryGain(_ channel: Int, of outputs: Int, from inputs: Int) -> (first: Int, second: Int, gain: Float)? {
    if inputs == outputs { return (channel, -1, 1) }
    if inputs == 1 { return (0, -1, 1) }
    if inputs == 2 && outputs == 1 { return (0, 1, 0.5) }
    return channel < inputs ? (channel, -1, 1) : nil
  }

  /// The input that bypass lets through, delayed by the unit's latency. Fills the dry line; call once a slice.
  @_noLocks
  private func dryChannels() -> UnsafePointer<UnsafeMutablePointer<Float>>? {
    if !node.pointee.hasInputs || inputCount == 0 { return nil }
    if let dry = node.pointee.dry {
      if inputs[0].isSilent && dry.pointee.isQuiet {
        dry.pointee.skip(count)
        return nil
      }
      dry.pointee.process(
        inputs[0].isSilent ? nil : inputs[0].channels, UnsafePointer(scratch.lineChannels), count: count)
      return UnsafePointer(scratch.lineChannels)
    }
    return inputs[0].isSilent ? nil : inputs[0].channels
  }

  @_noLocks
  private func feedDry() {
    if node.pointee.dry != nil { _ = dryChannels() }
  }

  @_noLocks
  private func passThrough() {
    guard outputCount > 0, let dry = dryChannels() else {
      silence()
      return
    }
    openOutputs()
    let from = Int(inputs[0].channelCount), to = Int(buses[firstOutput].buffer.channelCount)
    for channel in 0..<to {
      let out = buses[firstOutput].own[channel]
      guard let part = dryGain(channel, of: to, from: from) else {
        backline_zero(out, Int64(count))
        continue
      }
      backline_copy(out, dry[part.first], Int64(count))
      if part.second >= 0 {
        for i in 0..<count { out[i] = (out[i] + dry[part.second][i]) * part.gain }
      }
    }
    for bus in 1..<max(1, outputCount) { silence(bus) }
    node.pointee.publishRest(false)
  }

  /// Crossfades between the unit's output and its input.
  @_noLocks
  private func mixBypass() {
    let dry = dryChannels()
    unmark()
    for i in 0..<count {
      (scratch.fade + i).initialize(to: node.pointee.bypass.next())
    }
    for bus in 0..<outputCount {
      let to = Int(buses[firstOutput &+ bus].buffer.channelCount)
      let from = inputCount > 0 ? Int(inputs[0].channelCount) : 0
      for channel in 0..<to {
        let out = buses[firstOutput &+ bus].own[channel]
        let part = bus == 0 ? dryGain(channel, of: to, from: from) : nil
        for i in 0..<count {
          var through: Float = 0
          if let dry, let part {
            through = dry[part.first][i]
            if part.second >= 0 { through = (through + dry[part.second][i]) * part.gain }
          }
          let mix = scratch.fade[i]
          out[i] = mix >= 1 ? through : out[i] * (1 - mix) + through * mix
        }
      }
    }
  }
}
