import Backline
import Foundation

/// A moment; see `AudioTime`. Host time is in nanoseconds of CLOCK_MONOTONIC.
public class AVAudioTime: NSObject, @unchecked Sendable {
  // Why unchecked: nothing changes after init.

  let time: AudioTime

  init(_ time: AudioTime) { self.time = time }

  /// A frame of a timeline.
  public init(sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    time = AudioTime(sampleTime: sampleTime, sampleRate: sampleRate)
  }

  /// A time of the clock.
  public init(hostTime: UInt64) { time = AudioTime(hostTime: Int64(clamping: hostTime)) }

  /// A moment that is known both ways.
  public init(hostTime: UInt64, sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    time = AudioTime(sampleTime: sampleTime, sampleRate: sampleRate, hostTime: Int64(clamping: hostTime))
  }

  /// The frame; 0 where it is not known.
  public var sampleTime: AVAudioFramePosition { time.sampleTime ?? 0 }
  /// Frames a second.
  public var sampleRate: Double { time.sampleRate }
  /// Nanoseconds of CLOCK_MONOTONIC; 0 where they are not known.
  public var hostTime: UInt64 { UInt64(clamping: time.hostTime ?? 0) }
  /// True where the frame is known.
  public var isSampleTimeValid: Bool { time.sampleTime != nil }
  /// True where the time of the clock is known.
  public var isHostTimeValid: Bool { time.hostTime != nil }

  /// This time with what it lacks, worked out from a moment that is known both ways.
  public func extrapolateTime(fromAnchor anchor: AVAudioTime) -> AVAudioTime? {
    time.extrapolated(from: anchor.time).map(AVAudioTime.init)
  }

  /// Seconds as host time.
  public static func hostTime(forSeconds seconds: TimeInterval) -> UInt64 {
    let nanoseconds = max(0, seconds * 1e9)
    return nanoseconds < 0x1p63 ? UInt64(nanoseconds) : .max
  }
  /// Host time as seconds.
  public static func seconds(forHostTime hostTime: UInt64) -> TimeInterval { Double(hostTime) * 1e-9 }
}
