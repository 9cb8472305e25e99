import CBackline

/// Turns samples into what a lossless file keeps: rounded, dithered where bits are lost, packed.
///
/// Dither depends on a sample's place in the file alone, so that the same sound gives the same bytes in whatever pieces it comes.
final class SampleEncoder {
  /// The most frames of one call.
  static let pieceFrames = 8192

  private let format: SampleFormat
  private let channelCount: Int
  private let isBigEndian: Bool
  /// Whole numbers, left-justified in 32 bits, or right-justified while they are packed.
  let whole: UnsafeMutablePointer<Int32>
  let bytes: UnsafeMutablePointer<UInt8>
  /// Samples beyond full scale, which whole numbers cannot hold.
  private(set) var clippedCount: Int64 = 0
  private var frame: Int64 = 0

  init(_ format: SampleFormat, channelCount: Int, isBigEndian: Bool) {
    self.format = format
    self.channelCount = channelCount
    self.isBigEndian = isBigEndian
    whole = .allocate(capacity: Self.pieceFrames * channelCount)
    bytes = .allocate(capacity: Self.pieceFrames * channelCount * format.bits / 8)
  }

  deinit {
    whole.deallocate()
    bytes.deallocate()
  }

  /// Packs up to `pieceFrames` interleaved frames; returns the number of bytes.
  func pack(_ samples: UnsafePointer<Float>, frames: Int) -> Int {
    let count = Int64(frames * channelCount)
    if format.isFloat {
      backline_pack_floats(samples, count, Int32(format.bits), isBigEndian, bytes)
    } else {
      round(samples, count)
      backline_pack(whole, count, Int32(format.bits), isBigEndian, bytes)
    }
    frame += Int64(frames)
    return Int(count) * format.bits / 8
  }

  /// Rounds up to `pieceFrames` interleaved frames to whole numbers, left-justified in 32 bits.
  func justify(_ samples: UnsafePointer<Float>, frames: Int) {
    let count = frames * channelCount
    round(samples, Int64(count))
    let shift = 32 - format.bits
    for index in 0..<count { whole[index] <<= Int32(shift) }
    frame += Int64(frames)
  }

  /// What the last `frames` frames of a piece of `pieceFrames` that has just been packed or justified read back as.
  func readBack(
    _ samples: UnsafePointer<Float>, lastOf pieceFrames: Int, frames: Int, isJustified: Bool,
    into result: UnsafeMutablePointer<Float>
  ) {
    let start = (pieceFrames - frames) * channelCount, count = frames * channelCount
    if format.isFloat {
      backline_copy(result, samples + start, Int64(count))
    } else {
      backline_unquantize(whole + start, Int64(count), isJustified ? 32 : Int32(format.bits), result)
    }
  }

  private func round(_ samples: UnsafePointer<Float>, _ count: Int64) {
    clippedCount += backline_quantize(samples, count, Int32(format.bits), frame * Int64(channelCount), whole)
  }
}
