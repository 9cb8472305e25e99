import BacklineDSP
import Synchronization

/// The memory that a player's unit shares with its schedule: freed when both have let it go, with the sounds that the unit
/// may still know.
final class PlayerUnitMemory: @unchecked Sendable {
  // Why unchecked: the link is shared by its own rules; the rest is the schedule's, under its lock.

  let link: UnsafeMutablePointer<SegmentLink>
  let sampleRate: Double
  let channelCount: Int
  /// The sounds that have been sent and not been reported back.
  var sounds: [Int: SegmentFeed] = [:]
  /// The unit's state, for as long as it is in the graph: to be run by hand while nothing renders.
  var unit: UnsafeMutableRawPointer?

  /// Whom the unit wakes; it has to be there for as long as the unit is.
  private let courier: Courier

  init(sampleRate: Double, channelCount: Int, courier: Courier) {
    self.courier = courier
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    link = .allocate(capacity: 1)
    link.initialize(to: SegmentLink())
    link.pointee.wakeDescriptor.store(courier.wakeDescriptor, ordering: .relaxed)
  }

  deinit {
    link.deinitialize(count: 1)
    link.deallocate()
  }
}
