import BacklineMedia
import CEBUR128
import Glibc

/// Brings a rendering to a loudness before it is written: an explicit second pass over all of it.
///
/// The first pass measures the integrated loudness (ITU-R BS.1770, EBU R 128, with libebur128 by Jan Kokemüller) and keeps the
/// sound in a temporary file as large as the sound is; the second writes it with one gain.
public final class NormalizedDestination: OfflineDestination, @unchecked Sendable {
  // Why unchecked: used by one thread at a time, as the protocol says.

  /// The loudness that can be asked for, in LUFS.
  public static let range = -70.0...0.0

  private let destination: any OfflineDestination
  private let loudness: Double
  private let folder: String
  private var buffer: SpillBuffer?
  private var meter: UnsafeMutablePointer<ebur128_state>?
  private var sampleRate = 0
  private var channelCount = 0
  private var frameCount: Int64 = 0

  /// `loudness` is in LUFS, within `range`; the temporary file is made in `folder`.
  public init(_ destination: any OfflineDestination, loudness: Double, folder: String) {
    self.destination = destination
    self.loudness = loudness
    self.folder = folder
  }

  deinit { if meter != nil { ebur128_destroy(&meter) } }

  public func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError) {
    guard Self.range.contains(loudness) else {
      throw OfflineError(.wrongUsage, "a loudness of \(loudness) LUFS is not within -70 to 0")
    }
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    buffer = SpillBuffer(channelCount: channelCount, folder: folder)
    // Why a histogram: its memory does not grow with the length.
    let mode = Int32(EBUR128_MODE_I.rawValue | EBUR128_MODE_HISTOGRAM.rawValue)
    meter = ebur128_init(UInt32(channelCount), UInt(sampleRate), mode)
    if meter == nil {
      throw OfflineError(.badData, "the loudness of \(channelCount) channels at \(sampleRate) Hz cannot be measured")
    }
    // Refused now rather than after the whole first pass.
    try destination.begin(sampleRate: sampleRate, channelCount: channelCount, expectedFrames: expectedFrames)
  }

  public func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    ebur128_add_frames_float(meter, samples, frames)
    try buffer?.append(samples, frames: frames)
    frameCount += Int64(frames)
  }

  public func finish() throws(OfflineError) -> DestinationReport {
    var measured = 0.0
    let code = ebur128_loudness_global(meter, &measured)
    // Silence has no loudness, and stays as it is.
    let decibels = code == EBUR128_SUCCESS.rawValue && measured.isFinite ? loudness - measured : 0
    let gain = Float(pow(10, decibels / 20))
    let channelCount = channelCount, destination = destination
    let piece = UnsafeMutablePointer<Float>.allocate(capacity: 4096 * channelCount)
    defer { piece.deallocate() }
    try buffer?.replay { samples, frames throws(OfflineError) in
      for index in 0..<frames * channelCount { piece[index] = samples[index] * gain }
      try destination.write(piece, frames: frames)
    }
    var report = try destination.finish()
    report.gain = decibels
    return report
  }

  public func discard() {
    buffer = nil
    destination.discard()
  }

  public func cancel() { destination.cancel() }
}
