import BacklineDSP
import Synchronization

/// One tap: its memory, which is made anew with every unit, and who is told.
final class Tap: @unchecked Sendable {
  // Why unchecked: what changes is under locks; links are shared by their own rules.

  /// The most frames of a block.
  static let longestBlock = 384_000

  final class Memory: @unchecked Sendable {
    let link: UnsafeMutablePointer<TapLink>

    /// Whom the unit wakes; it has to be there for as long as the unit is.
    private let courier: Courier

    init(channelCount: Int, blockFrames: Int, sampleRate: Double, courier: Courier) {
      self.courier = courier
      link = .allocate(capacity: 1)
      link.initialize(
        to: TapLink(
          channelCount: channelCount, blockFrames: blockFrames, sampleRate: sampleRate,
          signal: courier.signal))
    }

    deinit {
      link.deinitialize(count: 1)
      link.deallocate()
    }
  }

  private struct State {
    var memories: [Memory] = []
    var sequence = 0
    var isEnded = false
  }

  let channelCount: Int
  let frameCount: Int
  private let state = Mutex(State())
  private let delivery = Mutex(())
  private let courier: Courier
  private let block: @Sendable (TapBlock) -> Void
  /// The engine's present epoch, and the frame that its timeline begins with.
  private let place: @Sendable () -> (epoch: Int, base: Int64)

  init(
    channelCount: Int, frameCount: Int, courier: Courier, place: @escaping @Sendable () -> (epoch: Int, base: Int64),
    block: @escaping @Sendable (TapBlock) -> Void
  ) {
    self.channelCount = channelCount
    self.frameCount = frameCount
    self.courier = courier
    self.place = place
    self.block = block
    courier.add(self) { [weak self] in self?.deliver() ?? false }
  }

  /// A unit that listens for this tap. Control queue.
  func makeUnit(_ format: UnitFormat) -> UnitInstance {
    let memory = Memory(
      channelCount: channelCount, blockFrames: frameCount, sampleRate: format.sampleRate, courier: courier)
    let sequence = state.withLock { state in
      // The memory before stays until what is in it has been told.
      state.memories.append(memory)
      return state.sequence
    }
    return UnitInstance(initializing: StreamTap(memory.link, sequence: sequence, owner: memory))
  }

  /// Has nothing told any more, and waits for the block that is being told, unless this is called from there.
  func end(isOnCourier: Bool) {
    state.withLock { $0.isEnded = true }
    courier.remove(self)
    if !isOnCourier { delivery.withLock { _ in } }
  }

  /// Tells all that there is; true where there was something.
  private func deliver() -> Bool {
    delivery.withLock { _ in
      var isAny = false
      while deliverNext() { isAny = true }
      return isAny
    }
  }

  private func deliverNext() -> Bool {
    let memories = state.withLock { $0.isEnded ? [] : $0.memories }
    for memory in memories {
      var told: TapBlock?
      let (epoch, base) = place()
      let hasBlock = memory.link.pointee.take { header, channel in
        let rate = memory.link.pointee.sampleRate
        let format = AudioFormat(sampleRate: rate, channelCount: channelCount)
        guard let buffer = PCMBuffer(format: format, frameCapacity: frameCount) else { return }
        buffer.frameLength = frameCount
        buffer.write(at: 0, count: frameCount, from: (0..<channelCount).map(channel))
        let sequence = state.withLock { state in
          defer { state.sequence += 1 }
          return state.sequence
        }
        told = TapBlock(
          buffer: buffer, time: AudioTime(sampleTime: header.frame - base, sampleRate: rate), sequence: sequence,
          droppedFrames: header.droppedFrames, epoch: epoch)
      }
      if let told { block(told) }
      if hasBlock { return true }
      state.withLock { state in
        // One that a newer one has followed is empty for good.
        if state.memories.count > 1 { state.memories.removeAll { $0 === memory } }
      }
    }
    return false
  }
}
