import BacklineRealtime
import CBackline

/// A moment: a frame of some timeline, a time of the system's clock, or both.
///
/// Whose timeline it is, the place says where the time comes from: an engine's frames count from its start or from the
/// beginning of manual rendering, a player's from its last stop.
public struct AudioTime: Sendable, Hashable {
  /// The frame, where it is known.
  public var sampleTime: Int64?
  /// Frames a second of the timeline; 0 without one.
  public var sampleRate: Double
  /// Nanoseconds of CLOCK_MONOTONIC, where they are known.
  public var hostTime: Int64?

  /// A frame of a timeline.
  public init(sampleTime: Int64, sampleRate: Double, hostTime: Int64? = nil) {
    self.sampleTime = sampleTime
    self.sampleRate = sampleRate
    self.hostTime = hostTime
  }

  /// A time of CLOCK_MONOTONIC, in nanoseconds.
  public init(hostTime: Int64) {
    sampleTime = nil
    sampleRate = 0
    self.hostTime = hostTime
  }

  /// The present moment on the system's clock.
  public static var now: AudioTime { AudioTime(hostTime: backline_now()) }

  /// Seconds from the beginning of the timeline.
  public var seconds: Double? { sampleRate > 0 ? sampleTime.map { Double($0) / sampleRate } : nil }

  /// This time with what it lacks, worked out from a moment that is known both ways; `nil` where that cannot be.
  public func extrapolated(from anchor: AudioTime) -> AudioTime? {
    guard let anchorFrame = anchor.sampleTime, let anchorTime = anchor.hostTime, anchor.sampleRate > 0 else {
      return nil
    }
    if let sampleTime {
      let rate = sampleRate > 0 ? sampleRate : anchor.sampleRate
      let seconds = Double(sampleTime) / rate - Double(anchorFrame) / anchor.sampleRate
      return AudioTime(
        sampleTime: sampleTime, sampleRate: rate,
        hostTime: Self.held(anchorTime) + Int64(saturating: seconds * 1e9))
    }
    guard let hostTime else { return nil }
    let frames = (Double(hostTime) - Double(anchorTime)) * 1e-9 * anchor.sampleRate
    return AudioTime(
      sampleTime: Self.held(anchorFrame) + Int64(saturating: frames), sampleRate: anchor.sampleRate, hostTime: hostTime)
  }

  /// The frame that is meant on a timeline of `rate` Hz; `nil` where no frame is known. Held within what can be reckoned with.
  func frame(at rate: Double) -> Int64? {
    guard let sampleTime else { return nil }
    if sampleRate <= 0 || sampleRate == rate { return Self.held(sampleTime) }
    return Int64(saturating: Double(sampleTime) * rate / sampleRate)
  }

  /// A number of frames or nanoseconds within 2^60, so that sums do not overflow.
  static func held(_ number: Int64) -> Int64 { min(max(number, -(1 << 60)), 1 << 60) }
}
