/// A sample of a track with its exact times: coded, or a few frames of sound, or a text.
public struct MediaSample: Sendable {
  /// Of the reader's track, counted from 0; of no meaning to a writer.
  public let track: Int
  /// How it is coded.
  public let format: MediaFormat
  /// When it is shown or heard.
  public var presentationTime: MediaTime
  /// In the order of decoding; the same as the presentation's where nothing is reordered.
  public var decodeTime: MediaTime
  /// How long it lasts.
  public var duration: MediaTime
  /// True where decoding can begin here.
  public var isKey: Bool
  /// The coded data.
  public var bytes: [UInt8]
  /// Frames at the end that fill an encoder's last packet up, and belong to no sound.
  var padding: Int32 = 0

  init(
    track: Int, format: MediaFormat, presentationTime: MediaTime, decodeTime: MediaTime, duration: MediaTime,
    isKey: Bool, bytes: [UInt8]
  ) {
    self.track = track
    self.format = format
    self.presentationTime = presentationTime
    self.decodeTime = decodeTime
    self.duration = duration
    self.isKey = isKey
    self.bytes = bytes
  }

  /// Interleaved frames of sound, to be encoded. What does not make a whole frame is left out.
  public init(sound samples: [Float], sampleRate: Int, channelCount: Int, at time: MediaTime) {
    let frames = samples.count / max(1, channelCount)
    self.init(
      track: 0, format: .sound(sampleRate: sampleRate, channelCount: channelCount), presentationTime: time,
      decodeTime: time, duration: MediaTime(value: Int64(frames), timescale: Int32(clamping: sampleRate)), isKey: true,
      bytes: samples.withUnsafeBytes { Array($0.prefix(frames * max(1, channelCount) * MemoryLayout<Float>.stride)) })
  }

  /// The sound of a buffer, to be encoded.
  public init(_ buffer: PCMBuffer, at time: MediaTime) {
    let count = buffer.frameLength * buffer.format.channelCount
    let samples = [Float](unsafeUninitializedCapacity: max(1, count)) { memory, length in
      if let base = memory.baseAddress { buffer.readInterleaved(from: 0, count: buffer.frameLength, into: base) }
      length = count
    }
    self.init(
      sound: samples, sampleRate: Int(buffer.format.sampleRate), channelCount: buffer.format.channelCount, at: time)
  }

  /// A text that holds from a time on for so long.
  public init(text: String, at time: MediaTime, duration: MediaTime) {
    self.init(
      track: 0, format: .text, presentationTime: time, decodeTime: time, duration: duration, isKey: true,
      bytes: Array(text.utf8))
  }

  /// The text of a sample of timed metadata, empty where nothing holds; `nil` for other samples.
  public var text: String? {
    if format.mediaType != .metadata { return nil }
    // Timed text tells its length first.
    if format.codec == "mov_text" {
      guard bytes.count >= 2 else { return nil }
      return String(decoding: bytes.dropFirst(2).prefix(Int(bytes[0]) << 8 | Int(bytes[1])), as: UTF8.self)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Sound that is not coded.
  func withFloats(_ body: (UnsafePointer<Float>) throws(MediaError) -> Void) throws(MediaError) {
    try bytes.withUnsafeBufferPointer { buffer throws(MediaError) in
      // An array's memory is aligned for every simple type.
      if let base = buffer.baseAddress { try body(UnsafeRawPointer(base).assumingMemoryBound(to: Float.self)) }
    }
  }
}
