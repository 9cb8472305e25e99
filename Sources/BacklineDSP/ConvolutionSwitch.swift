import BacklineRealtime
import CBackline

/// Convolution by one engine after another: where another takes over, the input goes over to it within a ramp, and what
/// the one before still holds rings out.
///
/// No engine at all lets the input pass. The owner of the engines offers them and takes back what is no longer used.
struct ConvolutionSwitch {
  private(set) var current: UnsafeMutablePointer<ConvolutionEngine>?
  private(set) var leaving: UnsafeMutablePointer<ConvolutionEngine>?
  private var isSwitching = false
  /// The current engine's part of the input.
  private var entry = Ramp(1)
  /// The loudness of the one before.
  private var exit = Ramp(1)
  /// The frames until the one before has rung out.
  private var rest: Int64 = 0
  private let pieces: UnsafeMutablePointer<Float>

  /// Begins with an engine, or none.
  init(_ engine: UnsafeMutablePointer<ConvolutionEngine>?) {
    current = engine
    pieces = SampleMemory.allocate(6 * Int(Quantum.frames))
  }

  func deallocate() { SampleMemory.free(pieces) }

  /// True where another engine may take over now.
  var isFree: Bool { @_noLocks get { !isSwitching } }

  /// Lets another engine, cleared, or none take over within `frames` frames; at once for 0. Only where `isFree`. Returns the
  /// engine that is no longer used.
  @_noLocks
  mutating func take(
    _ engine: UnsafeMutablePointer<ConvolutionEngine>?, over frames: Int32
  ) -> UnsafeMutablePointer<ConvolutionEngine>? {
    let before = current
    current = engine
    if frames <= 0 { return before }
    leaving = before
    isSwitching = true
    entry = Ramp(0)
    entry.move(to: 1, over: frames)
    exit = Ramp(1)
    rest = Int64(frames) &+ Int64(before.map { $0.pointee.tail } ?? 0)
    return nil
  }

  /// Fades the one before out within `frames` frames, since another is waiting.
  @_noLocks
  mutating func hurry(over frames: Int32) {
    if !isSwitching || exit.target == 0 { return }
    exit.move(to: 0, over: frames)
    rest = min(rest, Int64(max(frames, entry.remaining)))
  }

  /// At a quantum edge: returns the engine before where it has rung out.
  @_noLocks
  mutating func finish() -> UnsafeMutablePointer<ConvolutionEngine>? {
    if !isSwitching || rest > 0 { return nil }
    isSwitching = false
    let done = leaving
    leaving = nil
    return done
  }

  /// Writes `count` frames, all within one quantum.
  @_noLocks
  mutating func process(
    _ frame: Int64, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
    _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>, count: Int
  ) {
    backline_zero(leftOut, Int64(count))
    backline_zero(rightOut, Int64(count))
    if !isSwitching {
      Self.render(current, frame, left, right, leftOut, rightOut, count)
      return
    }
    let width = Int(Quantum.frames)
    let newLeft = pieces, newRight = pieces + width, oldLeft = pieces + 2 &* width, oldRight = pieces + 3 &* width
    let rung = pieces + 4 &* width, rungRight = pieces + 5 &* width
    for i in 0..<max(0, count) {
      let weight = entry.next()
      newLeft[i] = left[i] * weight
      newRight[i] = right[i] * weight
      oldLeft[i] = left[i] - newLeft[i]
      oldRight[i] = right[i] - newRight[i]
      rung[i] = 0
      rungRight[i] = 0
    }
    Self.render(current, frame, newLeft, newRight, leftOut, rightOut, count)
    Self.render(leaving, frame, oldLeft, oldRight, rung, rungRight, count)
    for i in 0..<max(0, count) {
      let gain = exit.next()
      leftOut[i] += rung[i] * gain
      rightOut[i] += rungRight[i] * gain
    }
    rest &-= Int64(count)
  }

  /// Forgets the past; returns the engine before, if it was still ringing.
  @_noLocks
  mutating func clear() -> UnsafeMutablePointer<ConvolutionEngine>? {
    current?.pointee.clear()
    entry = Ramp(1)
    exit = Ramp(1)
    rest = 0
    return finish()
  }

  /// The frames until everything has rung out after the input has ended.
  var tail: Int64 {
    @_noLocks get { max(Int64(current.map { $0.pointee.tail } ?? 0), isSwitching ? rest : 0) }
  }

  @inline(__always) @_noLocks
  private static func render(
    _ engine: UnsafeMutablePointer<ConvolutionEngine>?, _ frame: Int64, _ left: UnsafePointer<Float>,
    _ right: UnsafePointer<Float>, _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>,
    _ count: Int
  ) {
    if let engine {
      engine.pointee.process(frame, left, right, leftOut, rightOut, count: count)
    } else {
      backline_add(leftOut, left, Int64(count))
      backline_add(rightOut, right, Int64(count))
    }
  }
}
