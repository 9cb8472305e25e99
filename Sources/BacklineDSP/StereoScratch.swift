import BacklineRealtime
import CBackline

/// Some frames of both channels as pairs of doubles, for units that work in Double from input to output. Owned by a unit;
/// allocated at creation, freed by `deallocate()`.
struct StereoScratch {
  /// The most frames that it holds.
  static var capacity: Int { @_noLocks get { 256 } }

  let samples: UnsafeMutablePointer<SIMD2<Double>>

  init() {
    samples = .allocate(capacity: Self.capacity)
    samples.initialize(repeating: .zero, count: Self.capacity)
  }

  func deallocate() { samples.deallocate() }

  /// Takes `count` frames of an input bus from `offset` on.
  @inline(__always) @_noLocks
  func load(_ block: borrowing RenderBlock, bus: Int = 0, from offset: Int, count: Int) {
    backline_stereo_widen(
      block.input(bus, 0) + offset, block.input(bus, 1) + offset, samples, Int32(truncatingIfNeeded: count))
  }

  /// Writes `count` frames to an output bus from `offset` on, held to ±1e36.
  @inline(__always) @_noLocks
  func store(_ block: borrowing RenderBlock, bus: Int = 0, from offset: Int, count: Int) {
    backline_stereo_narrow(
      samples, block.output(bus, 0) + offset, block.output(bus, 1) + offset, Int32(truncatingIfNeeded: count))
  }
}
