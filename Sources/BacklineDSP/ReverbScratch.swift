import BacklineRealtime
import CBackline

/// The sounds on their way through a reverb, a block of frames each.
struct ReverbScratch: ~Copyable {
  private static var block: Int { BacklineBlockFrames }

  /// What goes into the network.
  let left, right: UnsafeMutablePointer<Float>
  /// What comes out of it.
  let wetLeft, wetRight: UnsafeMutablePointer<Float>
  let springLeft, springRight: UnsafeMutablePointer<Float>
  /// For what is faded with something else.
  let otherLeft, otherRight: UnsafeMutablePointer<Float>
  /// The integrators of the low and the high cut.
  let band: UnsafeMutablePointer<Float>

  init() {
    let memory = SampleMemory.allocate(8 * Self.block + 4)
    left = memory
    right = memory + Self.block
    wetLeft = memory + 2 * Self.block
    wetRight = memory + 3 * Self.block
    springLeft = memory + 4 * Self.block
    springRight = memory + 5 * Self.block
    otherLeft = memory + 6 * Self.block
    otherRight = memory + 7 * Self.block
    band = memory + 8 * Self.block
  }

  deinit { SampleMemory.free(left) }
}
