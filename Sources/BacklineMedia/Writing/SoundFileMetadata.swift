import CSndFile

/// What a sound file says beside its sound: texts, broadcast information, markers, and chunks of other programs.
public struct SoundFileMetadata: Sendable, Equatable {
  /// A text with a fixed meaning: RIFF INFO, the texts of AIFF and CAF, Vorbis comments.
  public struct Text: Sendable, Equatable {
    let kind: Int32
    public let name: String
    public let text: String
  }

  /// A named place.
  public struct Marker: Sendable, Equatable {
    /// In frames of the file.
    public var frame: Int64
    public var name: String

    public init(frame: Int64, name: String) {
      self.frame = frame
      self.name = name
    }
  }

  /// A chunk that is carried over as it is.
  struct Chunk: Sendable, Equatable {
    let name: String
    let bytes: [UInt8]
  }

  public internal(set) var texts: [Text] = []
  public var markers: [Marker] = []
  /// The chunk `bext` (EBU Tech 3285) in libsndfile's layout; empty where there is none.
  var broadcast: [UInt8] = []
  var chunks: [Chunk] = []
  /// What the source has and nobody here can carry over, by name.
  var unknown: [String] = []

  public init() {}

  /// The title of a sound, for a file that is made from nothing.
  public mutating func setTitle(_ title: String) {
    texts.removeAll { $0.kind == Int32(SF_STR_TITLE) }
    texts.append(Text(kind: Int32(SF_STR_TITLE), name: "title", text: title))
  }

  /// What the first frame is in the time of the source, in frames, as broadcast information (`bext`) of version 1.
  public mutating func setTimeReference(_ frame: Int64) {
    broadcast = [UInt8](repeating: 0, count: MemoryLayout<SF_BROADCAST_INFO>.size)
    broadcast.withUnsafeMutableBytes { bytes in
      guard let info = bytes.baseAddress?.assumingMemoryBound(to: SF_BROADCAST_INFO.self) else { return }
      info.pointee.version = 1
      info.pointee.time_reference_low = UInt32(truncatingIfNeeded: frame)
      info.pointee.time_reference_high = UInt32(truncatingIfNeeded: frame >> 32)
    }
  }

  public var isEmpty: Bool {
    texts.isEmpty && markers.isEmpty && broadcast.isEmpty && chunks.isEmpty && unknown.isEmpty
  }

  /// The same for the sound at another rate: places move with it.
  public func converted(from rate: Int, to newRate: Int) -> SoundFileMetadata {
    if rate == newRate { return self }
    var result = self
    for index in markers.indices {
      result.markers[index].frame = RateConverter.convertedLength(of: markers[index].frame, from: rate, to: newRate)
    }
    result.broadcast.withUnsafeMutableBytes { bytes in
      guard bytes.count >= MemoryLayout<SF_BROADCAST_INFO>.size,
        let info = bytes.baseAddress?.assumingMemoryBound(to: SF_BROADCAST_INFO.self)
      else { return }
      let time = Int64(info.pointee.time_reference_high) << 32 | Int64(info.pointee.time_reference_low)
      let moved = RateConverter.convertedLength(of: max(0, time), from: rate, to: newRate)
      info.pointee.time_reference_low = UInt32(truncatingIfNeeded: moved)
      info.pointee.time_reference_high = UInt32(truncatingIfNeeded: moved >> 32)
    }
    return result
  }

  /// What this has and the file at `path` has not, by name.
  func missing(in path: String) -> [String] {
    if isEmpty { return [] }
    guard let reader = try? SoundFileReader(path: path) else { return [] }
    let found = reader.metadata()
    var missing = unknown
    for text in texts where !found.texts.contains(where: { $0.kind == text.kind && $0.text.hasPrefix(text.text) }) {
      missing.append(text.name)
    }
    if !broadcast.isEmpty && found.broadcast.isEmpty { missing.append("bext") }
    if !markers.isEmpty && found.markers.map(\.frame) != markers.map(\.frame) { missing.append("markers") }
    for chunk in chunks where !found.chunks.contains(where: { $0.name == chunk.name }) { missing.append(chunk.name) }
    return missing
  }
}
