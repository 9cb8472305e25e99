/// Chooses the slices in which nodes are metered: one in sixteen, at no regular distance, so that a unit that works hard every so
/// many slices is met as often as it does. Reading the clock for every node of every slice would cost more than small units do.
struct SliceSampler {
  private var state: UInt32 = 0x9E37_79B9

  @_noLocks
  mutating func next() -> Bool {
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return state & 15 == 0
  }
}
