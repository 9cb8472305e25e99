import BacklineEngine

/// What a recording is to be: its tracks, its files, its ends.
public struct RecordingPlan: Sendable {
  /// The most channels of one file, and of all tracks together.
  public static let channelLimit = 64
  public static let totalChannelLimit = 256
  /// The kinds of file that keep samples as they are, so that one whose program is killed is whole up to there. Others (FLAC, Ogg
  /// Vorbis, Opus) are WAV while they are recorded, and converted when they are whole.
  public static let plainContainers: [SoundContainer] = [.wav, .rf64, .w64, .caf]
  public static let containers: [SoundContainer] = plainContainers + [.flac, .ogg, .opus]

  /// One source.
  public struct Track: Sendable, Equatable {
    public let source: Endpoint
    /// Names its file where each track has one.
    public let label: String
    /// Its place among the channels of all tracks.
    public let channels: Range<Int>

    public init(source: Endpoint, label: String, channels: Range<Int>) {
      self.source = source
      self.label = label
      self.channels = channels
    }
  }

  /// One file with all tracks or, where it ends in a slash, the folder for one file a track.
  public let path: String
  public private(set) var tracks: [Track]
  public let container: SoundContainer
  /// How samples are kept; the best that the kind of file has up to 32-bit floating point where it is `nil`.
  public let sampleFormat: SampleFormat?
  /// A new file begins after so many frames, and before a file gets larger than so many bytes.
  public var splitFrames: Int64?
  public var splitBytes: Int64?
  /// The recording ends by itself after so many frames.
  public var frameLimit: Int64?
  /// What is done meanwhile is kept beside it.
  public var keepsEvents = false

  /// Refuses what no file can hold. `container` is taken from the file's name where it is `nil`, WAV where that says nothing.
  public init(
    path: String, tracks: [Track], container: SoundContainer? = nil, sampleFormat: SampleFormat? = nil
  ) throws(SoundFileWriteError) {
    self.path = path
    self.tracks = tracks
    self.sampleFormat = sampleFormat
    let isFolder = path.hasSuffix("/")
    let named = isFolder ? .wav : SoundContainer(ofFileNamed: path)
    self.container = container ?? named ?? .wav
    guard Self.containers.contains(self.container) else {
      throw .unsupported(
        "\(self.container.title) cannot be recorded live: record \(Self.containers.map(\.title).joined(separator: ", ")), and render "
          + "it to \(self.container.title)")
    }
    try check()
  }

  /// Adds a track, with a file of its own; refuses what cannot be.
  mutating func add(_ track: Track) throws(SoundFileWriteError) {
    if !isFolder {
      throw .unsupported(
        "\(path) is one file, which keeps the tracks that it began with: name '\(track.source)' when the recording begins, or "
          + "record into a folder (a path that ends in '/'), where each track has a file of its own")
    }
    var longer = self
    longer.tracks.append(track)
    try longer.check()
    self = longer
  }

  private func check() throws(SoundFileWriteError) {
    let channels = tracks.reduce(0) { $0 + $1.channels.count }
    if tracks.isEmpty || channels == 0 { throw .unsupported("there is nothing to record: name a source with channels") }
    if channels > Self.totalChannelLimit {
      throw .unsupported("\(channels) channels are too many to record: at most \(Self.totalChannelLimit)")
    }
    // Checked now, and not when the file is made.
    for file in try files(path: path) { _ = try encoding(channelCount: file.channels.count, sampleRate: 48_000) }
  }

  /// Where what is done meanwhile is kept: `events.jsonl` in the folder, `take.events.jsonl` beside `take.wav`.
  var eventsPath: String {
    if isFolder { return path + "events" + EventJournal.ending }
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    let stem = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : path[..<$0] } ?? path[...]
    return stem + ".events" + EventJournal.ending
  }

  var isFolder: Bool { path.hasSuffix("/") }

  var channelCount: Int { tracks.map(\.channels.upperBound).max() ?? 0 }

  /// What is written while it is recorded; refuses what the kind of file that it becomes does not hold.
  func encoding(channelCount: Int, sampleRate: Int) throws(SoundFileWriteError) -> SoundFileEncoding {
    let final = try SoundFileEncoding(
      container, sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount,
      channelLimit: Self.channelLimit)
    if conversion == nil { return final }
    return try SoundFileEncoding(
      .wav, sampleFormat: final.sampleFormat ?? .float32, sampleRate: sampleRate, channelCount: channelCount,
      channelLimit: Self.channelLimit)
  }

  /// What the files are converted to when they are whole; `nil` where they stay as they are.
  var conversion: (container: SoundContainer, sampleFormat: SampleFormat?)? {
    Self.plainContainers.contains(container) ? nil : (container, sampleFormat)
  }

  /// The files of a part, with the channels of each. `number` counts the parts from 1.
  func files(
    path: String, part number: Int = 1
  ) throws(SoundFileWriteError) -> [(path: String, channels: Range<Int>, title: String?)] {
    func name(_ path: String) -> String { number == 1 ? path : UnfinishedRecording.numbered(path, number) }
    if !isFolder { return [(name(path), 0..<channelCount, nil)] }
    var taken: Set<String> = []
    return tracks.map { track in
      let base = Self.safeName(track.label)
      var unique = base
      var count = 1
      while !taken.insert(unique.lowercased()).inserted {
        count += 1
        unique = "\(base)-\(count)"
      }
      return (name("\(path)\(unique).\(container.fileEnding)"), track.channels, track.label)
    }
  }

  /// A label as a file's name: without what means something to a file system or a terminal, and not too long.
  static func safeName(_ label: String) -> String {
    var name = String(
      label.unicodeScalars.map { scalar -> Character in
        scalar.value < 32 || scalar.value == 127 || "/\\:*?\"<>|".unicodeScalars.contains(scalar)
          ? "-" : Character(scalar)
      })
    while name.utf8.count > 200 { name.removeLast() }
    while name.first == "." || name.first == " " { name.removeFirst() }
    while name.last == "." || name.last == " " { name.removeLast() }
    return name.isEmpty ? "track" : name
  }
}
