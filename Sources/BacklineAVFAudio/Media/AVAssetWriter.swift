import Backline
import Foundation
import Synchronization

/// Kinds of movie.
public struct AVFileType: Sendable, Hashable, RawRepresentable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public static let mov = AVFileType(rawValue: "com.apple.quicktime-movie")
  public static let mp4 = AVFileType(rawValue: "public.mpeg-4")

  var container: MediaWriter.Container? {
    switch self {
    case .mov: .mov
    case .mp4: .mp4
    default: nil
    }
  }
}

/// What a track carries.
public enum AVMediaType: Sendable {
  case video, audio, subtitle, metadata

  var type: MediaType {
    switch self {
    case .video: .video
    case .audio: .audio
    case .subtitle: .subtitle
    case .metadata: .metadata
    }
  }
}

/// A track to be; see `MediaWriter.Input`. Samples are stored as they are: settings that would have them encoded are refused by
/// `canAdd(_:)`, since nothing here encodes.
public final class AVAssetWriterInput: Sendable {
  public let mediaType: AVMediaType
  public let sourceFormatHint: CMFormatDescription?
  let encodes: Bool

  public init(
    mediaType: AVMediaType, outputSettings: [String: any Sendable]?, sourceFormatHint: CMFormatDescription? = nil
  ) {
    self.mediaType = mediaType
    self.sourceFormatHint = sourceFormatHint
    encodes = outputSettings != nil
  }

  /// Where the samples of a track go.
  public struct SampleBufferReceiver: Sendable {
    let receiver: MediaWriter.Receiver?
    let refusal: MediaError?

    /// Takes a sample; suspends until it has been taken in.
    public func append<Content>(_ sample: CMReadySampleBuffer<Content>) async throws {
      if let refusal { throw refusal }
      try await receiver?.append(sample.sample)
    }

    /// Takes a sample where there is room for it now.
    public func appendImmediately<Content>(_ sample: CMReadySampleBuffer<Content>) throws -> Bool {
      if let refusal { throw refusal }
      return try receiver?.appendImmediately(sample.sample) ?? false
    }

    /// The track's last sample has been appended.
    public func finish() { receiver?.finish() }
  }
}

/// Writes one movie; see `MediaWriter`, which does all of it.
public final class AVAssetWriter: Sendable {
  public enum Status: Int, Sendable {
    case unknown = 0, writing, completed, failed, cancelled
  }

  private let writer: MediaWriter

  public init(url: URL, fileType: AVFileType) throws {
    guard let container = fileType.container else {
      throw MediaError(.unsupported, "files of the type \(fileType.rawValue) cannot be written: choose .mov or .mp4")
    }
    writer = try MediaWriter(path: url.path, container: container)
  }

  public var status: Status {
    switch writer.status {
    case .unknown: .unknown
    case .writing: .writing
    case .completed: .completed
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }

  public var error: (any Error)? { writer.error }

  public func canAdd(_ input: AVAssetWriterInput) -> Bool { refusal(of: input) == nil }

  private func refusal(of input: AVAssetWriterInput) -> MediaError? {
    guard !input.encodes else {
      return MediaError(.unsupported, "samples are stored as they are: give no output settings")
    }
    guard let format = input.sourceFormatHint?.format else {
      return MediaError(.unsupported, "a track that is stored as it is needs a source format hint")
    }
    if format.mediaType != input.mediaType.type {
      return MediaError(.wrongTrack, "the source format is \(format.mediaType), not \(input.mediaType)")
    }
    return writer.refusal(of: MediaWriter.Input(format))
  }

  /// Adds a track, and returns where its samples go. One that cannot be added gives a receiver that refuses all.
  public func inputReceiver(for input: AVAssetWriterInput) -> AVAssetWriterInput.SampleBufferReceiver {
    if let refusal = refusal(of: input) { return .init(receiver: nil, refusal: refusal) }
    guard let format = input.sourceFormatHint?.format else { return .init(receiver: nil, refusal: nil) }
    do throws(MediaError) {
      return .init(receiver: try writer.receiver(for: MediaWriter.Input(format)), refusal: nil)
    } catch {
      return .init(receiver: nil, refusal: error)
    }
  }

  public func start() throws { try writer.start() }

  /// The source time that is the movie's zero; one that is not valid counts as zero.
  public func startSession(atSourceTime time: CMTime) { writer.startSession(at: time.time ?? .zero) }

  public func endSession(atSourceTime time: CMTime) { writer.endSession(at: time.time ?? .zero) }

  public func finishWriting() async { await writer.finishWriting() }

  public func cancelWriting() { writer.cancelWriting() }
}
