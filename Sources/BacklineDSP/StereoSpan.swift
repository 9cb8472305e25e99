import BacklineRealtime
import CBackline

/// Some frames of a stereo input and output, with the loops that run second-order sections over them.
struct StereoSpan {
  var left: UnsafePointer<Float>
  var right: UnsafePointer<Float>
  let leftOut: UnsafeMutablePointer<Float>
  let rightOut: UnsafeMutablePointer<Float>
  let count: Int

  @_noLocks
  private init(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ leftOut: UnsafeMutablePointer<Float>,
    _ rightOut: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    self.left = left
    self.right = right
    self.leftOut = leftOut
    self.rightOut = rightOut
    self.count = count
  }

  /// The first input and output bus of a block.
  @_noLocks
  init(_ block: borrowing RenderBlock) {
    self.init(block.input(0, 0), block.input(0, 1), block.output(0, 0), block.output(0, 1), Int(block.frameCount))
  }

  /// `count` frames from `offset` on.
  @inline(__always) @_noLocks
  func piece(_ offset: Int, _ count: Int) -> StereoSpan {
    StereoSpan(left + offset, right + offset, leftOut + offset, rightOut + offset, count)
  }

  /// Goes on with what has been written as the input.
  @inline(__always) @_noLocks
  mutating func continueInPlace() {
    left = UnsafePointer(leftOut)
    right = UnsafePointer(rightOut)
  }

  /// Copies the input to the output.
  @_noLocks
  func copy() {
    SampleMath.scale(leftOut, left, by: 1, count: count)
    SampleMath.scale(rightOut, right, by: 1, count: count)
  }

  @inline(__always) @_noLocks
  private func load(_ frame: Int) -> SIMD2<Double> {
    backline_stereo_load(left + frame, right + frame)
  }

  @inline(__always) @_noLocks
  private func store(_ y: SIMD2<Double>, _ frame: Int) {
    backline_stereo_store(y, leftOut + frame, rightOut + frame)
  }

  /// A section whose coefficients stay.
  @_noLocks
  func run(_ section: inout BiquadSection) {
    var local = section
    for frame in 0..<max(0, count) { store(local.next(load(frame)), frame) }
    section = local
  }

  /// A section whose coefficients stay, its output limited.
  @_noLocks
  func runLimited(_ section: inout BiquadSection) {
    var local = section
    for frame in 0..<max(0, count) { store(backline_stereo_limit(local.next(load(frame))), frame) }
    section = local
  }

  /// A band that moves, its output limited.
  @_noLocks
  func run(_ band: inout EqualizerBand, _ section: inout BiquadSection) {
    for frame in 0..<max(0, count) { store(backline_stereo_limit(band.next(load(frame), &section)), frame) }
  }
}
