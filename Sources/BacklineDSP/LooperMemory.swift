import BacklineRealtime
import CBackline

/// The recorded loop in two layers of blocks, so that the last overdub can be taken back and brought again in no time.
///
/// Each block of 1024 frames is heard from one of the two layers. The first write of an overdub into a block copies it to the other
/// layer and goes on there; what it was before stays where it was until the next overdub comes by. Memory is allocated and touched
/// when the unit is made.
struct LooperMemory {
  /// 30 s at 48 kHz.
  static var capacity: Int { @_noLocks get { 1440 * 1024 } }
  private static var blockShift: Int { @_noLocks get { 10 } }
  private static var blockCount: Int { @_noLocks get { capacity >> blockShift } }

  private let samples: UnsafeMutablePointer<Float>
  private let layers: UnsafeMutablePointer<SIMD2<Float>>
  /// Which layer each block is heard from.
  private let heard: UnsafeMutablePointer<UInt8>
  /// Whether the last overdub has written into the block.
  private let touched: UnsafeMutablePointer<Bool>

  init() {
    samples = SampleMemory.allocate(4 * Self.capacity)
    layers = UnsafeMutableRawPointer(samples).bindMemory(to: SIMD2<Float>.self, capacity: 2 * Self.capacity)
    heard = .allocate(capacity: Self.blockCount)
    heard.initialize(repeating: 0, count: Self.blockCount)
    touched = .allocate(capacity: Self.blockCount)
    touched.initialize(repeating: false, count: Self.blockCount)
  }

  func deallocate() {
    SampleMemory.free(samples)
    heard.deallocate()
    touched.deallocate()
  }

  @inline(__always) @_noLocks
  private func place(_ frame: Int) -> Int {
    Int(heard[frame >> Self.blockShift]) &* Self.capacity &+ frame
  }

  @inline(__always) @_noLocks
  func read(_ frame: Int) -> SIMD2<Float> { layers[place(frame)] }

  /// What the block would give with the last overdub exchanged.
  @inline(__always) @_noLocks
  func readOther(_ frame: Int) -> SIMD2<Float> {
    let block = frame >> Self.blockShift
    let layer = touched[block] ? 1 &- Int(heard[block]) : Int(heard[block])
    return layers[layer &* Self.capacity &+ frame]
  }

  /// Writes while the loop is being recorded for the first time.
  @inline(__always) @_noLocks
  func record(_ frame: Int, _ value: SIMD2<Float>) { layers[place(frame)] = value }

  /// Writes as part of an overdub, which can be taken back.
  @inline(__always) @_noLocks
  func overdub(_ frame: Int, _ value: SIMD2<Float>) {
    let block = frame >> Self.blockShift
    if !touched[block] { divide(block) }
    layers[place(frame)] = value
  }

  /// Copies a block to the other layer and goes on there.
  @inline(never) @_noLocks
  private func divide(_ block: Int) {
    touched[block] = true
    let old = heard[block], start = block << Self.blockShift
    heard[block] = 1 &- old
    backline_copy(
      samples + 2 &* (Int(1 &- old) &* Self.capacity &+ start), samples + 2 &* (Int(old) &* Self.capacity &+ start),
      Int64(2 << Self.blockShift))
  }

  /// Begins an overdub: what the one before has written can no longer be taken back.
  @_noLocks
  func beginOverdub() {
    for block in 0..<Self.blockCount { touched[block] = false }
  }

  /// Exchanges what the last overdub has written and what was there before.
  @_noLocks
  func exchange() {
    for block in 0..<Self.blockCount where touched[block] { heard[block] = 1 &- heard[block] }
  }
}
