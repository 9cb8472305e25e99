import Backline
import Foundation

/// A sound file; see `AudioFile`. A file that is written gets its name when it is closed or let go, once it has been found whole.
public class AVAudioFile: NSObject, @unchecked Sendable {
  // Why unchecked: the file underneath is Sendable, and nothing else changes.

  let file: AudioFile
  /// Where the file is, or will be.
  public let url: URL
  /// The rate and channels of the file.
  public let fileFormat: AVAudioFormat
  /// What frames are read into or written from.
  public let processingFormat: AVAudioFormat

  private init(_ file: AudioFile, _ url: URL) {
    self.file = file
    self.url = url
    processingFormat = AVAudioFormat(file.processingFormat)
    fileFormat = AVAudioFormat(
      AudioFormat(
        sampleRate: file.fileFormat.sampleRate, channelCount: file.fileFormat.channelCount,
        sampleType: file.processingFormat.sampleType, isInterleaved: true))
  }

  /// Opens a file to be read as 32-bit floating point, one channel after the other.
  public convenience init(forReading fileURL: URL) throws {
    try self.init(forReading: fileURL, commonFormat: .pcmFormatFloat32, interleaved: false)
  }

  /// Opens a file to be read in one of the common forms.
  public convenience init(forReading fileURL: URL, commonFormat: AVAudioCommonFormat, interleaved: Bool) throws {
    guard let type = commonFormat.sampleType else { throw AudioError(.invalidFormat, "no such common format") }
    self.init(
      try AudioFile(forReading: fileURL.path, sampleType: type, isInterleaved: interleaved), fileURL)
  }

  /// Begins a file in the form that the settings and the name's ending tell; written from 32-bit floating point.
  public convenience init(forWriting fileURL: URL, settings: [String: Any]) throws {
    try self.init(forWriting: fileURL, settings: settings, commonFormat: .pcmFormatFloat32, interleaved: false)
  }

  /// The same, written from one of the common forms.
  public convenience init(
    forWriting fileURL: URL, settings: [String: Any], commonFormat: AVAudioCommonFormat, interleaved: Bool
  ) throws {
    guard let type = commonFormat.sampleType else { throw AudioError(.invalidFormat, "no such common format") }
    let format = try Self.fileFormat(fileURL, settings)
    self.init(
      try AudioFile(forWriting: fileURL.path, format: format, sampleType: type, isInterleaved: interleaved), fileURL)
  }

  private static func fileFormat(_ url: URL, _ settings: [String: Any]) throws -> AudioFileFormat {
    guard let container = AudioFileFormat.Container(ofFileNamed: url.lastPathComponent) else {
      let names = AudioFileFormat.Container.allCases.map(\.rawValue).joined(separator: ", ")
      throw AudioError(.fileFailed, "'\(url.lastPathComponent)' names no kind of file that is written: \(names)")
    }
    let rate = (settings[AVSampleRateKey] as? Double) ?? integer(settings[AVSampleRateKey]).map(Double.init)
    guard let rate, let channels = integer(settings[AVNumberOfChannelsKey]) else {
      throw AudioError(.invalidFormat, "the settings need AVSampleRateKey and AVNumberOfChannelsKey")
    }
    let id = integer(settings[AVFormatIDKey]) ?? Int(kAudioFormatLinearPCM)
    guard id == Int(kAudioFormatLinearPCM) || (id == Int(kAudioFormatFLAC) && container == .flac) else {
      throw AudioError(.unsupported, "AVFormatIDKey \(id) is not written here: linear PCM and FLAC are")
    }
    let isFloat = (settings[AVLinearPCMIsFloatKey] as? Bool) ?? false
    let bits = integer(settings[AVLinearPCMBitDepthKey]) ?? (container == .flac ? 24 : 16)
    let encoding: AudioFileFormat.Encoding
    switch (isFloat, bits) {
    case (true, 64): encoding = .float64
    case (true, _): encoding = container == .flac ? .int24 : .float32
    case (false, 16): encoding = .int16
    case (false, 24): encoding = .int24
    case (false, 32): encoding = container == .flac ? .int24 : .int32
    default: throw AudioError(.invalidFormat, "there are no samples of \(bits) bits: 16, 24, 32 or 64 there are")
    }
    return AudioFileFormat(
      container: container, encoding: container.isLossy ? nil : encoding, sampleRate: rate, channelCount: channels)
  }

  /// The frames of the file.
  public var length: AVAudioFramePosition { file.length }
  /// The frame that the next read begins with.
  public var framePosition: AVAudioFramePosition {
    get { file.framePosition }
    set { file.framePosition = newValue }
  }

  /// Reads as many frames as fit into a buffer, fewer at the end.
  public func read(into buffer: AVAudioPCMBuffer) throws { try file.read(into: buffer.buffer) }
  /// Reads so many frames, fewer at the end.
  public func read(into buffer: AVAudioPCMBuffer, frameCount: AVAudioFrameCount) throws {
    try file.read(into: buffer.buffer, frameCount: Int(frameCount))
  }
  /// Adds the sound of a buffer at the end.
  public func write(from buffer: AVAudioPCMBuffer) throws { try file.write(from: buffer.buffer) }

  /// Closes the file. Where a file that was written turns out not to be whole, nothing stands under its name; `closeFile()`
  /// says why.
  public func close() { try? file.close() }

  /// Closes the file and throws where it is not whole.
  public func closeFile() throws { try file.close() }
}
