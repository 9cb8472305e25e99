import BacklineMedia
import CBackline
import CMovie

/// Encodes the sound of one track of a movie.
final class MediaEncoder {
  private let codec: OpaquePointer
  private let path: String
  let settings: AudioSettings
  private let rounding: (bits: Int, whole: UnsafeMutablePointer<Int32>, samples: UnsafeMutablePointer<Float>)?
  /// Frames that have been encoded.
  private var frameCount: Int64 = 0

  private static let pieceFrames = 4096

  init(_ settings: AudioSettings, path: String) throws(MediaError) {
    let bits = settings.keptFormat?.bits ?? 0
    let (made, reason) = MediaFile.call { error in
      movie_codec_create(
        settings.encoderName, Int32(settings.sampleRate), Int32(settings.channelCount), Int64(settings.bitRate ?? 0),
        Int32(bits), error)
    }
    guard let made else { throw MediaError(.unsupported, reason) }
    codec = made
    self.path = path
    self.settings = settings
    if let format = settings.keptFormat, !format.isFloat {
      let count = Self.pieceFrames * settings.channelCount
      rounding = (bits, .allocate(capacity: count), .allocate(capacity: count))
    } else {
      rounding = nil
    }
  }

  deinit {
    movie_codec_free(codec)
    rounding?.whole.deallocate()
    rounding?.samples.deallocate()
  }

  /// Why a container does not hold what this makes; `nil` where it does.
  func refusal(by formatName: String) -> String? {
    let (fits, reason) = MediaFile.call { movie_codec_fits(formatName, codec, $0) }
    return fits ? nil : reason
  }

  /// True where a decoder gives frames before the first: a start that is late would be later then.
  var hasPadding: Bool { movie_codec_padding(codec) > 0 }

  func addTrack(to writer: OpaquePointer) -> Bool { movie_writer_add_codec(writer, codec) >= 0 }

  /// The place of the first frame, counted from the session's start.
  func begin(at frame: Int64) { movie_codec_begin(codec, frame) }

  /// Encodes interleaved frames; `take` gets each packet that is ready.
  func encode(
    _ samples: UnsafePointer<Float>, frames: Int, _ take: (CodedPacket) throws(MediaError) -> Void
  ) throws(MediaError) {
    var done = 0
    while done < frames {
      let count = min(Self.pieceFrames, frames - done)
      let piece = rounded(samples + done * settings.channelCount, count)
      var taken = 0
      while taken < count {
        let (put, reason) = MediaFile.call {
          movie_codec_put(codec, piece + taken * settings.channelCount, Int64(count - taken), $0)
        }
        if put < 0 { throw MediaError(.failed, "\(path): \(reason)") }
        taken += Int(put)
        try takePackets(take)
      }
      frameCount += Int64(count)
      done += count
    }
  }

  func encodeSilence(
    _ frames: Int64, _ take: (CodedPacket) throws(MediaError) -> Void
  ) throws(MediaError) {
    if frames <= 0 { return }
    let silence = [Float](repeating: 0, count: Self.pieceFrames * settings.channelCount)
    var left = frames
    while left > 0 {
      let count = Int(min(left, Int64(Self.pieceFrames)))
      try silence.withUnsafeBufferPointer { samples throws(MediaError) in
        guard let base = samples.baseAddress else { return }
        try encode(base, frames: count, take)
      }
      left -= Int64(count)
    }
  }

  /// Encodes the rest.
  func finish(_ take: (CodedPacket) throws(MediaError) -> Void) throws(MediaError) {
    let (isEnded, reason) = MediaFile.call { movie_codec_end(codec, $0) }
    if !isEnded { throw MediaError(.failed, "\(path): \(reason)") }
    try takePackets(take)
  }

  /// Rounds to the bits that are kept, with the dither that sound files have, too: the encoder takes that as it is.
  private func rounded(_ samples: UnsafePointer<Float>, _ frames: Int) -> UnsafePointer<Float> {
    guard let rounding else { return samples }
    let count = Int64(frames * settings.channelCount)
    backline_quantize(
      samples, count, Int32(rounding.bits), frameCount * Int64(settings.channelCount), rounding.whole)
    backline_unquantize(rounding.whole, count, Int32(rounding.bits), rounding.samples)
    return UnsafePointer(rounding.samples)
  }

  private func takePackets(_ take: (CodedPacket) throws(MediaError) -> Void) throws(MediaError) {
    while true {
      var packet = movie_packet()
      let (code, reason) = MediaFile.call { movie_codec_get(codec, &packet, $0) }
      if code < 0 { throw MediaError(.failed, "\(path): \(reason)") }
      if code == 0 { return }
      try take(CodedPacket(packet))
    }
  }
}

/// A packet that waits for its turn.
struct CodedPacket {
  /// Its times count from the session's start.
  var packet: movie_packet
  let bytes: [UInt8]
  /// What a decoder has to know, where that has changed.
  let setup: [UInt8]

  init(_ packet: movie_packet, bytes: [UInt8]) {
    self.packet = packet
    self.bytes = bytes
    setup = []
  }

  /// Copies what an encoder has made.
  init(_ packet: movie_packet) {
    func copy(_ start: UnsafePointer<UInt8>?, _ count: Int64) -> [UInt8] {
      start.map { Array(UnsafeBufferPointer(start: $0, count: Int(count))) } ?? []
    }
    self.packet = packet
    bytes = copy(packet.bytes, packet.count)
    setup = copy(packet.setup, packet.setup_count)
  }

  /// A text that holds from one time to another, counted from the session's start.
  static func text(_ bytes: [UInt8], from begin: MediaTime, to end: MediaTime) -> CodedPacket {
    let duration = end - begin
    var packet = movie_packet()
    packet.pts = begin.converted(to: duration.timescale).value
    packet.dts = packet.pts
    packet.duration = duration.value
    packet.scale_num = 1
    packet.scale_den = duration.timescale
    packet.is_key = true
    return CodedPacket(packet, bytes: bytes)
  }

  /// When it is decoded, which is the order of a file.
  var time: MediaTime { MediaTime(value: packet.dts == .min ? packet.pts : packet.dts, timescale: packet.scale_den) }
}
