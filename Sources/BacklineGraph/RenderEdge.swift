import BacklineRealtime
import CBackline

/// Brings one source bus into a target bus: loop memory, alignment, channel conversion, fade. Render thread.
struct EdgeRenderer {
  let edge: UnsafeMutablePointer<EdgeState>
  let scratch: RenderScratch
  let frame: Int64
  let count: Int

  @_noLocks
  init(_ step: UnsafeMutablePointer<RenderStep>, _ scratch: RenderScratch, frame: Int64, count: Int) {
    edge = step.pointee.edge.unsafelyUnwrapped
    self.scratch = scratch
    self.frame = frame
    self.count = count
  }

  /// Writes the target when `isFirst`, else adds to it.
  @_noLocks
  func gather(_ source: UnsafeMutablePointer<PlanBus>?, into target: UnsafeMutablePointer<PlanBus>, isFirst: Bool) {
    let channels = incoming(source)
    let fade = self.fade()
    guard let channels, !(fade == nil && edge.pointee.fade.value == 0) else {
      if isFirst {
        target.pointee.buffer.channels = UnsafePointer(scratch.silentChannels)
        target.pointee.buffer.isSilent = true
      }
      return
    }
    let isAssigning = isFirst || target.pointee.buffer.isSilent
    if isAssigning {
      target.pointee.buffer.channels = UnsafePointer(target.pointee.own)
      target.pointee.buffer.isSilent = false
    }
    mix(channels, into: target, fade: fade, isAssigning: isAssigning)
  }

  /// Keeps a quantum of a source for the loop that this connection closes.
  @_noLocks
  func keep(_ source: UnsafeMutablePointer<PlanBus>) {
    guard let loop = edge.pointee.loop else { return }
    let quantum = Int(Quantum.frames)
    for channel in 0..<edge.pointee.channelCount {
      let samples = source.pointee.buffer.channels[channel]
      for i in 0..<count {
        loop[channel &* quantum &+ Int((frame &+ Int64(i)) & (Quantum.frames &- 1))] = samples[i]
      }
    }
  }

  /// The samples that come in, delayed as they have to be; `nil` where all are zero.
  @_noLocks
  private func incoming(_ source: UnsafeMutablePointer<PlanBus>?) -> UnsafePointer<UnsafeMutablePointer<Float>>? {
    var channels: UnsafePointer<UnsafeMutablePointer<Float>>?
    if let loop = edge.pointee.loop {
      let quantum = Int(Quantum.frames)
      for channel in 0..<edge.pointee.channelCount {
        for i in 0..<count {
          scratch.lineChannels[channel][i] =
            loop[channel &* quantum &+ Int((frame &+ Int64(i)) & (Quantum.frames &- 1))]
        }
      }
      channels = UnsafePointer(scratch.lineChannels)
    } else if let source, !source.pointee.buffer.isSilent {
      channels = source.pointee.buffer.channels
    }
    guard let line = edge.pointee.line else { return channels }
    if channels == nil && line.pointee.isQuiet {
      line.pointee.skip(count)
      return nil
    }
    line.pointee.process(channels, UnsafePointer(scratch.lineChannels), count: count)
    return UnsafePointer(scratch.lineChannels)
  }

  /// The fade's values for the slice; `nil` where it rests.
  @_noLocks
  private func fade() -> UnsafeMutablePointer<Float>? {
    let end = Int(edge.pointee.endIn)
    let endsHere = end >= 0 && end < count
    if end >= count { edge.pointee.endIn &-= Int32(truncatingIfNeeded: count) }
    if edge.pointee.fade.isSettled && edge.pointee.hold == 0 && !endsHere { return nil }
    for i in 0..<count {
      if endsHere && i == end {
        edge.pointee.endIn = -1
        edge.pointee.fade.move(to: 0, over: edge.pointee.endRamp)
      }
      (scratch.fade + i).initialize(to: edge.pointee.fade.value)
      if edge.pointee.hold > 0 { edge.pointee.hold &-= 1 } else { edge.pointee.fade.advance() }
    }
    return scratch.fade
  }

  @_noLocks
  private func mix(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, into target: UnsafeMutablePointer<PlanBus>,
    fade: UnsafeMutablePointer<Float>?, isAssigning: Bool
  ) {
    var next = 0
    for part in 0..<edge.pointee.mixCount {
      let mix = edge.pointee.mix[part]
      let destination = Int(mix.destination)
      if isAssigning {
        // Channels that nothing is mapped to are silent.
        while next < destination {
          backline_zero(target.pointee.own[next], Int64(count))
          next &+= 1
        }
      }
      let isWritten = !isAssigning || next > destination
      let from = UnsafePointer(channels[Int(mix.source)]), to = target.pointee.own[destination]
      if let fade {
        if isWritten {
          for i in 0..<count { to[i] += from[i] * (fade[i] * mix.gain) }
        } else {
          for i in 0..<count { to[i] = from[i] * (fade[i] * mix.gain) }
        }
      } else {
        let gain = edge.pointee.fade.value * mix.gain
        if isWritten {
          for i in 0..<count { to[i] += from[i] * gain }
        } else if gain == 1 {
          backline_copy(to, from, Int64(count))
        } else {
          for i in 0..<count { to[i] = from[i] * gain }
        }
      }
      next = max(next, destination &+ 1)
    }
    if isAssigning {
      while next < Int(target.pointee.buffer.channelCount) {
        backline_zero(target.pointee.own[next], Int64(count))
        next &+= 1
      }
    }
  }
}
