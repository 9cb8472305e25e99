import Backline
import Foundation
import Synchronization

/// Kinds of file.
public struct AVFileType: Sendable, Hashable, RawRepresentable {
  /// The uniform type identifier.
  public let rawValue: String

  /// A type by its identifier.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// QuickTime.
  public static let mov = AVFileType(rawValue: "com.apple.quicktime-movie")
  /// MPEG-4.
  public static let mp4 = AVFileType(rawValue: "public.mpeg-4")
  /// WAV.
  public static let wav = AVFileType(rawValue: "com.microsoft.waveform-audio")
  /// Apple's Core Audio Format.
  public static let caf = AVFileType(rawValue: "com.apple.coreaudio-format")

  var container: MediaWriter.Container? {
    switch self {
    case .mov: .mov
    case .mp4: .mp4
    case .wav: .wav
    case .caf: .caf
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

/// A track to be; see `MediaWriter.Input`. Without output settings samples are stored as they are; sound can have settings to be
/// encoded by, and metadata is texts.
public final class AVAssetWriterInput: Sendable {
  /// What the track carries.
  public let mediaType: AVMediaType
  /// How its samples are coded.
  public let sourceFormatHint: CMFormatDescription?
  let settings: Result<AudioSettings, MediaError>?

  /// A track to be. Settings make it one that no writer takes.
  public init(
    mediaType: AVMediaType, outputSettings: [String: any Sendable]?, sourceFormatHint: CMFormatDescription? = nil
  ) {
    self.mediaType = mediaType
    self.sourceFormatHint = sourceFormatHint
    settings = outputSettings.map(AudioSettings.parsed)
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

/// Writes one file; see `MediaWriter`, which does all of it.
public final class AVAssetWriter: Sendable {
  /// How far a writer is.
  public enum Status: Int, Sendable {
    case unknown = 0, writing, completed, failed, cancelled
  }

  private let writer: MediaWriter

  /// A writer for a file that is not there yet.
  public init(url: URL, fileType: AVFileType) throws {
    guard let container = fileType.container else {
      throw MediaError(
        .unsupported, "files of the type \(fileType.rawValue) cannot be written: choose .mov, .mp4, .wav or .caf")
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

  /// Whether sound can be encoded as settings say, in this kind of file.
  public func canApply(outputSettings: [String: any Sendable]?, forMediaType mediaType: AVMediaType) -> Bool {
    guard let outputSettings else { return true }
    guard case .success(let settings) = AudioSettings.parsed(outputSettings) else { return false }
    return writer.canApply(settings, for: mediaType.type)
  }

  /// See `MediaWriter.fragmentInterval`; not valid where there is none.
  public var movieFragmentInterval: CMTime {
    get { writer.fragmentInterval.map { CMTime($0) } ?? .invalid }
    set { writer.fragmentInterval = newValue.time }
  }

  private func track(for input: AVAssetWriterInput) throws(MediaError) -> MediaWriter.Input {
    if let settings = input.settings {
      if input.mediaType != .audio {
        throw MediaError(.unsupported, "\(input.mediaType) is stored as it is: give no output settings")
      }
      return MediaWriter.Input(try settings.get())
    }
    guard let format = input.sourceFormatHint?.format else {
      if input.mediaType == .metadata { return .metadata }
      throw MediaError(.unsupported, "a track that is stored as it is needs a source format hint")
    }
    if format.mediaType != input.mediaType.type {
      throw MediaError(.wrongTrack, "the source format is \(format.mediaType), not \(input.mediaType)")
    }
    return MediaWriter.Input(format)
  }

  private func refusal(of input: AVAssetWriterInput) -> MediaError? {
    do throws(MediaError) {
      return writer.refusal(of: try track(for: input))
    } catch {
      return error
    }
  }

  /// Adds a track, and returns where its samples go. One that cannot be added gives a receiver that refuses all.
  public func inputReceiver(for input: AVAssetWriterInput) -> AVAssetWriterInput.SampleBufferReceiver {
    do throws(MediaError) {
      return .init(receiver: try writer.receiver(for: try track(for: input)), refusal: nil)
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

extension AudioSettings {
  /// Settings by the Mac's keys, or what is wrong with them.
  static func parsed(_ settings: [String: any Sendable]) -> Result<AudioSettings, MediaError> {
    let known = [
      AVFormatIDKey, AVSampleRateKey, AVNumberOfChannelsKey, AVEncoderBitRateKey, AVLinearPCMBitDepthKey,
      AVLinearPCMIsFloatKey, AVLinearPCMIsBigEndianKey, AVLinearPCMIsNonInterleaved,
    ]
    func refused(_ reason: String) -> Result<AudioSettings, MediaError> { .failure(MediaError(.unsupported, reason)) }
    if let other = settings.keys.sorted().first(where: { !known.contains($0) }) {
      return refused("the output setting \(other) is not known here")
    }
    let rate = (settings[AVSampleRateKey] as? Double).map { Int($0) } ?? integer(settings[AVSampleRateKey])
    guard let id = integer(settings[AVFormatIDKey]), let rate, let channels = integer(settings[AVNumberOfChannelsKey])
    else { return refused("output settings need AVFormatIDKey, AVSampleRateKey and AVNumberOfChannelsKey") }
    let bits = integer(settings[AVLinearPCMBitDepthKey])
    let isFloat = (settings[AVLinearPCMIsFloatKey] as? Bool) ?? false
    if (settings[AVLinearPCMIsBigEndianKey] as? Bool) == true
      || (settings[AVLinearPCMIsNonInterleaved] as? Bool) == true
    {
      return refused("PCM is written with its low bytes first and its channels interleaved")
    }
    let codec: AudioSettings.Codec
    var format: SampleFormat?
    switch UInt32(clamping: id) {
    case kAudioFormatLinearPCM:
      codec = .pcm
      format = SampleFormat.allCases.first { $0.bits == bits ?? 16 && $0.isFloat == isFloat }
      if format == nil { return refused("there are no PCM samples of \(bits ?? 16) bits here") }
    case kAudioFormatFLAC:
      codec = .flac
      if let bits { format = bits == 16 ? .int16 : .int24 }
    case kAudioFormatMPEG4AAC: codec = .aac
    case kAudioFormatOpus: codec = .opus
    default: return refused("AVFormatIDKey \(id) cannot be encoded here: linear PCM, AAC, FLAC and Opus can")
    }
    return .success(
      AudioSettings(
        codec, sampleFormat: format, sampleRate: rate, channelCount: channels,
        bitRate: integer(settings[AVEncoderBitRateKey])))
  }
}
