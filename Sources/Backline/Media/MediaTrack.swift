import CMovie

/// A track of a movie that is written: what waits of it, and what it has to read back as.
struct MediaTrack {
  enum Kind {
    /// Coded samples, as they are.
    case copied(MediaFormat, MediaFile, Int32)
    case encoded(MediaEncoder)
    /// Texts with times.
    case text

    init(_ input: MediaWriter.Input, path: String) throws(MediaError) {
      switch input.content {
      case .coded(let format):
        guard case .file(let file, let track) = format.origin else {
          throw MediaError(.unsupported, "\(path): samples that are not coded need settings to be encoded by")
        }
        self = .copied(format, file, track)
      case .sound(let settings): self = .encoded(try MediaEncoder(settings, path: path))
      case .text: self = .text
      }
    }

    var mediaType: MediaType {
      switch self {
      case .copied(let format, _, _): format.mediaType
      case .encoded: .audio
      case .text: .metadata
      }
    }

    /// Adds the track to a movie; false where that cannot be.
    func add(to writer: OpaquePointer, timescale: Int32) -> Bool {
      switch self {
      case .copied(_, let file, let track): movie_writer_add(writer, file.reader, track) >= 0
      case .encoded(let encoder): encoder.addTrack(to: writer)
      case .text: movie_writer_add_text(writer, timescale) >= 0
      }
    }
  }

  let kind: Kind
  private(set) var waiting: [CodedPacket] = []
  private(set) var waitingBytes = 0
  var isFinished = false
  private var lastDecodeTime: MediaTime?
  /// The end of the latest sample, counted from the session's start.
  var end: MediaTime?
  /// Where encoded sound goes on, once some has come.
  var placement: SoundPlacement?
  private(set) var proof = MediaProof()

  init(_ kind: Kind) { self.kind = kind }

  /// Refuses a sample whose time does not come after that of the one before.
  mutating func checkOrder(_ sample: MediaSample, _ path: String) throws(MediaError) {
    if let last = lastDecodeTime, sample.decodeTime <= last {
      throw MediaError(.notMonotonic, "\(path): a sample at \(sample.decodeTime) does not come after \(last)")
    }
    lastDecodeTime = sample.decodeTime
  }

  mutating func take(_ packet: CodedPacket, end: MediaTime) {
    self.end = max(self.end ?? .zero, end)
    waiting.append(packet)
    waitingBytes += packet.bytes.count
    proof.note(packet.bytes)
  }

  mutating func removeFirst() -> CodedPacket {
    let packet = waiting.removeFirst()
    waitingBytes -= packet.bytes.count
    return packet
  }

  /// What is different in a track that was read back; `nil` where it is the same.
  func difference(to other: MediaProof) -> String? {
    switch kind {
    case .copied(let format, _, _):
      // PCM is cut into packets as a reader likes.
      if format.codec.hasPrefix("pcm_") {
        return proof.bytes == other.bytes ? nil : "\(other.bytes) bytes, not \(proof.bytes)"
      }
      return proof.count == other.count ? nil : "\(other.count) samples, not \(proof.count)"
    case .encoded:
      if proof.bytes != other.bytes { return "\(other.bytes) bytes, not \(proof.bytes)" }
      if proof.first != other.first { return "another first block" }
      return proof.last == other.last ? nil : "another last block"
    case .text:
      // A text's end may be one of its own.
      return other.count >= proof.count ? nil : "\(other.count) texts, not \(proof.count)"
    }
  }
}

/// What is kept of a track to compare it by: numbers, and its first and last block.
struct MediaProof {
  private static let blockBytes = 1024

  private(set) var count = 0
  private(set) var bytes = 0
  private(set) var first: [UInt8] = []
  private(set) var last: [UInt8] = []

  mutating func note(_ sample: [UInt8]) {
    if sample.isEmpty { return }
    count += 1
    bytes += sample.count
    if first.count < Self.blockBytes { first += sample.prefix(Self.blockBytes - first.count) }
    last =
      sample.count >= Self.blockBytes
      ? Array(sample.suffix(Self.blockBytes)) : Array((last + sample).suffix(Self.blockBytes))
  }
}
