/// An impulse response to convolve with, checked.
public struct ImpulseResponse: Sendable {
  /// The longest response in frames.
  public static let longestFrameCount = 1 << 21

  /// 1 channel (the same for both sides), 2 (each side its own) or 4 (true stereo: left to left, left to right, right to
  /// left, right to right), equally long.
  public let channels: [[Float]]

  /// Refuses what cannot be convolved with.
  public init(_ channels: [[Float]]) throws(ImpulseResponseError) {
    guard [1, 2, 4].contains(channels.count) else { throw .channels(channels.count) }
    let count = channels[0].count
    guard count > 0 else { throw .empty }
    guard count <= Self.longestFrameCount else { throw .tooLong(frames: count, limit: Self.longestFrameCount) }
    guard channels.allSatisfy({ $0.count == count }) else { throw .unequalChannels }
    guard channels.allSatisfy({ $0.allSatisfy(\.isFinite) }) else { throw .notFinite }
    self.channels = channels
  }

  /// The length in frames.
  public var frameCount: Int { channels[0].count }
}

/// Why something is no impulse response.
public enum ImpulseResponseError: Error, Equatable, Sendable {
  case empty
  /// Neither 1, 2 nor 4 channels.
  case channels(Int)
  case unequalChannels
  case tooLong(frames: Int, limit: Int)
  /// It has samples that are no numbers.
  case notFinite
  /// There is no memory for a response of so many frames.
  case noMemory(frames: Int)
  /// There is no Fourier transform of this length, for want of memory.
  case noTransform(frames: Int)

  /// What is wrong and what would be right, for people.
  public var message: String {
    switch self {
    case .empty: "an impulse response needs at least one frame"
    case .channels(let count):
      "an impulse response has 1 channel, 2 or 4 (true stereo: LL LR RL RR), not \(count)"
    case .unequalChannels: "the channels of an impulse response are equally long"
    case .tooLong(let frames, let limit): "an impulse response has at most \(limit) frames, not \(frames)"
    case .noMemory(let frames):
      "there is not enough memory left for an impulse response of \(frames) frames: use a shorter one"
    case .noTransform(let frames):
      "there is no memory for a Fourier transform of \(frames) frames: use a shorter response"
    case .notFinite: "the impulse response holds samples that are no finite numbers"
    }
  }
}
