import Backline
import Foundation
import Synchronization

/// Kinds of movie.
public struct AVFileType: Sendable, Hashable, RawRepresentable {
  /// The uniform type identifier.
  public let rawValue: String

  /// A type by its identifier.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// QuickTime.
  public static let mov = AVFileType(rawValue: "com.apple.quicktime-movie")
  /// MPEG-4.
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
  /// What the track carries.
  public let mediaType: AVMediaType
  /// How its samples are coded.
  public let sourceFormatHint: CMFormatDescription?
  let encodes: Bool

  /// A track to be. Settings make it one that no writer takes.
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
  /// How far a writer is.
  public enum Status: Int, Sendable {
    case unknown = 0, writing, completed, failed, cancelled
  }

  private let writer: MediaWriter

  /// A writer for a file that is not there yet.
  public init(url: URL, fileType: AVFileType) throws {
    guard let container = fileType.container else {
      throw MediaError(.unsupported, "files of the type \(fileType.rawValue) cannot be written: choose .mov or .mp4")
    }
    writer = try MediaWriter(path: url.path, container: container)
  }

  /// How far the writer is.
  public var status: Status {
    switch writer.status {
    case .unknown: .unknown
    case .writing: .writing
    case .completed: .completed
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }

  /// Why the writer has failed.
  public var error: (any Error)? { writer.error }

  /// True where a track can be added.
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

  /// Makes the file; throws where that cannot be.
  public func start() throws { try writer.start() }

  /// The source time that is the movie's zero; one that is not valid counts as zero.
  public func startSession(atSourceTime time: CMTime) { writer.startSession(at: time.time ?? .zero) }

  /// Samples that begin at this time or later are refused.
  public func endSession(atSourceTime time: CMTime) { writer.endSession(at: time.time ?? .zero) }

  /// Checks the file and gives it its name; `status` and `error` say what became of it.
  public func finishWriting() async { await writer.finishWriting() }

  /// Gives up: what has been written is taken away.
  public func cancelWriting() { writer.cancelWriting() }
}
