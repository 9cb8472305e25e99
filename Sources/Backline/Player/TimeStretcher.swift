import CRubberBand
import Glibc

/// How fast and how high a player's sound is played.
struct PlaybackStretch: Equatable {
  /// 2 is twice as fast.
  var rate = 1.0
  /// Cents up or down, beside what the rate does.
  var pitch: Float = 0
  /// True where the pitch goes with the rate, as of a tape.
  var isVarispeed = false

  /// What the frequencies are multiplied by.
  var scale: Double { exp2(Double(pitch) / 1_200) * (isVarispeed ? rate : 1) }
}

/// Changes the speed and the pitch of a stream with Rubber Band (Particular Programs; its "finer" engine). Allocates; for a reader's
/// thread.
///
/// Begins with the first frame, without the library's delay, and ends with exactly as many frames as the speeds make of those
/// that came.
final class TimeStretcher {
  private let stretcher: OpaquePointer
  private let channelCount: Int
  private let dropped: UnsafeMutablePointer<Float>
  /// Frames of the library's delay that are still to be left out.
  private var delay: Int
  private var stretch: PlaybackStretch
  /// The frames that are to come out of those that went in.
  private var expected = 0.0
  private var given = 0
  private var isFinal = false
  private static let pieceFrames = 1_024

  /// `nil` where the library makes none.
  init?(sampleRate: Double, channelCount: Int, _ stretch: PlaybackStretch) {
    let options =
      Int32(RubberBandOptionProcessRealTime.rawValue) | Int32(RubberBandOptionThreadingNever.rawValue)
      | Int32(RubberBandOptionPitchHighConsistency.rawValue) | Int32(RubberBandOptionEngineFiner.rawValue)
      | Int32(RubberBandOptionChannelsTogether.rawValue)
    guard
      let made = rubberband_new(
        UInt32(sampleRate), UInt32(channelCount), options, 1 / stretch.rate, stretch.scale)
    else { return nil }
    stretcher = made
    self.channelCount = channelCount
    self.stretch = stretch
    dropped = .allocate(capacity: Self.pieceFrames * channelCount)
    rubberband_set_max_process_size(made, UInt32(Self.pieceFrames))
    delay = Int(rubberband_get_start_delay(made))
    var pad = Int(rubberband_get_preferred_start_pad(made))
    let silence = [Float](repeating: 0, count: Self.pieceFrames)
    while pad > 0 {
      let count = min(pad, Self.pieceFrames)
      silence.withUnsafeBufferPointer { silence in
        if let base = silence.baseAddress {
          process([UnsafePointer<Float>](repeating: base, count: channelCount), count, isFinal: false)
        }
      }
      pad -= count
    }
  }

  deinit {
    rubberband_delete(stretcher)
    dropped.deallocate()
  }

  /// The most frames that may go in at once.
  var longestPiece: Int { Self.pieceFrames }

  /// Takes another speed or pitch from the next frames on.
  func change(to new: PlaybackStretch) {
    if new == stretch { return }
    stretch = new
    rubberband_set_time_ratio(stretcher, 1 / new.rate)
    rubberband_set_pitch_scale(stretcher, new.scale)
  }

  /// Takes frames in; `isFinal` with the last ones, which may be none.
  func write(_ planes: [UnsafePointer<Float>], count: Int, isFinal: Bool) {
    expected += Double(count) / stretch.rate
    self.isFinal = isFinal
    process(planes, count, isFinal: isFinal)
  }

  private func process(_ planes: [UnsafePointer<Float>], _ count: Int, isFinal: Bool) {
    let pointers: [UnsafePointer<Float>?] = planes
    pointers.withUnsafeBufferPointer { rubberband_process(stretcher, $0.baseAddress, UInt32(count), isFinal ? 1 : 0) }
  }

  /// Gives up to `count` frames; 0 where more has to go in, or, after the last, where all have come.
  func read(into planes: [UnsafeMutablePointer<Float>], count: Int) -> Int {
    while delay > 0 {
      let wanted = min(delay, Self.pieceFrames, available)
      if wanted <= 0 { break }
      delay -= retrieve((0..<channelCount).map { dropped + $0 * Self.pieceFrames }, wanted)
    }
    let limit = isFinal ? Int(expected.rounded()) - given : count
    let wanted = min(count, limit)
    if wanted <= 0 { return 0 }
    var made = delay > 0 ? 0 : retrieve(planes, min(wanted, max(0, available)))
    if made == 0 && isFinal {
      // The library has given all that it has: the last frames of a length that it rounds down.
      made = wanted
      for plane in planes { plane.update(repeating: 0, count: made) }
    }
    given += made
    return made
  }

  private var available: Int { Int(rubberband_available(stretcher)) }

  private func retrieve(_ planes: [UnsafeMutablePointer<Float>], _ count: Int) -> Int {
    let pointers: [UnsafeMutablePointer<Float>?] = planes
    return pointers.withUnsafeBufferPointer { Int(rubberband_retrieve(stretcher, $0.baseAddress, UInt32(count))) }
  }
}
