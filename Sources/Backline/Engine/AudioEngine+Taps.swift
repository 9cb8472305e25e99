import BacklineDSP
import BacklineEngine
import Synchronization

/// Taps: units of their own beside the buses that they listen to.
extension AudioEngine {
  func installTap(
    on node: AudioNode, bus: Int, frameCount: Int, format: AudioFormat?, block: @escaping @Sendable (TapBlock) -> Void
  ) throws(AudioError) {
    guard (1...Tap.longestBlock).contains(frameCount) else {
      throw AudioError(.outOfRange, "a tap's blocks have 1 to \(Tap.longestBlock) frames, not \(frameCount)")
    }
    let courier = try tapCourier()
    try control { engine throws(AudioError) in
      let entry = try graph.entry(node)
      guard (0..<node.outputCount).contains(bus) else {
        throw AudioError(.noSuchBus, "the \(node.kindName) has no output bus \(bus) to listen to")
      }
      if entry.taps[bus] != nil {
        throw AudioError(.tapExists, "bus \(bus) of the \(node.kindName) has a tap already: remove it first")
      }
      // What is heard is what the unit gives, at the engine's rate.
      let real = AudioFormat(sampleRate: engine.sampleRate, channelCount: entry.outputChannels)
      if let format, format.standard != real {
        throw .mismatch(format, real, "a tap hears a bus as it is; leave the format out to take it so")
      }
      let life = life
      let tap = Tap(
        channelCount: real.channelCount, frameCount: frameCount, courier: courier,
        place: { (life.epoch.load(ordering: .relaxed), life.timelineBase.load(ordering: .relaxed)) }, block: block)
      let kind = graph.newName("tap")
      do throws(EngineError) {
        try engine.register(
          StreamTap.description(kind: kind, channelCount: real.channelCount, blockFrames: frameCount) {
            tap.makeUnit($0)
          })
      } catch {
        throw AudioError(error)
      }
      let name = graph.newName("tap")
      do throws(AudioError) {
        try perform(
          [.add(kind: kind, name: name, values: []), .connect(Endpoint(entry.name, bus: bus), Endpoint(name, bus: 0))],
          engine)
      } catch {
        engine.unregister(kind)
        throw error
      }
      entry.taps[bus] = (tap, name, kind)
    }
  }

  func removeTap(of node: AudioNode, bus: Int) throws(AudioError) {
    let tap = try control { engine throws(AudioError) in
      let entry = try graph.entry(node)
      return try endTap(of: entry, bus: bus, engine)
    }
    // Outside of the control queue, since the block that is being told may wait for it.
    tap.end(isOnCourier: couriers.withLock { $0.taps }?.isCurrent ?? false)
  }

  @discardableResult
  func endTap(of entry: AudioGraph.Entry, bus: Int, _ engine: isolated Engine) throws(AudioError) -> Tap {
    guard let tap = entry.taps.removeValue(forKey: bus) else {
      throw AudioError(.noTap, "bus \(bus) of the \(entry.node.kindName) has no tap")
    }
    tap.tap.end(isOnCourier: true)
    try perform([.remove(tap.name)], engine)
    engine.unregister(tap.kind)
    return tap.tap
  }
}
