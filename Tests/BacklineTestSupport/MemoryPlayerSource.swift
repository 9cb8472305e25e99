import BacklineDSP
import Synchronization

/// A player's source whose every frame can be told from its value.
public final class MemoryPlayerSource: PlayerSource {
  public let frameCount: Int64
  /// The frame from which reading fails.
  private let brokenFrom: Int64
  private let value: @Sendable (Int64) -> Float
  private let reads = Atomic<Int>(0)

  /// `frames` frames of `value`, on the right side negated.
  public init(
    frames: Int64, brokenFrom: Int64 = .max, _ value: @escaping @Sendable (Int64) -> Float = MemoryPlayerSource.code
  ) {
    frameCount = frames
    self.brokenFrom = brokenFrom
    self.value = value
  }

  /// The value of a frame, exact up to frame 2^24.
  public static func code(_ frame: Int64) -> Float { Float(frame + 1) / 16_777_216 }

  /// The frame that a value stands for; -1 is silence.
  public static func frame(of value: Float) -> Int64 { Int64(value * 16_777_216) - 1 }

  public var nonFiniteCount: Int { 0 }
  /// How often frames have been asked for.
  public var readCount: Int { reads.load(ordering: .relaxed) }

  public func read(
    at frame: Int64, into frames: UnsafeMutablePointer<Float>, count: Int
  ) throws(PlayerSourceFailure) -> Int {
    reads.add(1, ordering: .relaxed)
    if frame >= brokenFrom { throw PlayerSourceFailure(frame: frame, message: "broken") }
    let length = Int(max(0, min(Int64(count), min(frameCount, brokenFrom) - frame)))
    for index in 0..<length {
      frames[2 * index] = value(frame + Int64(index))
      frames[2 * index + 1] = -value(frame + Int64(index))
    }
    return length
  }
}
