import BacklineDSP
import BacklineMedia
import Synchronization

/// Fills one segment from its source, a buffer or a file, as there is room. Converts rate and channels on the way.
final class SegmentFeed: @unchecked Sendable {
  // Why unchecked: one thread at a time reads, under the lock; the segment is shared by its own rules.

  private static let pieceFrames = 8_192

  let segment: UnsafeMutablePointer<SoundSegment>
  private let lock = Mutex(())
  private let channelCount: Int
  private let sourceChannels: Int
  private let source: Source
  private var piece: [Float] = []
  private let stretching: Stretching?

  /// What reading at another speed keeps.
  private final class Stretching {
    let stretcher: TimeStretcher
    let wanted: Mutex<PlaybackStretch>
    /// The frames of the source, and how many of them have been read.
    let frameCount: Int
    let isLooping: Bool
    var position: Int
    var hasEnded = false
    let input: UnsafeMutablePointer<Float>

    init(
      _ stretcher: TimeStretcher, _ stretch: PlaybackStretch, frameCount: Int, position: Int, isLooping: Bool,
      channelCount: Int
    ) {
      self.stretcher = stretcher
      wanted = Mutex(stretch)
      self.frameCount = frameCount
      self.position = position
      self.isLooping = isLooping
      input = .allocate(capacity: stretcher.longestPiece * channelCount)
    }

    deinit { input.deallocate() }
  }

  private enum Source {
    case buffer(ConvertedSound<BufferSound>)
    case file(AudioFile, ConvertedSound<SoundFileReader>, start: Int64)
  }

  /// Makes the segment of a sound for an engine's rate and a player's channels, going on where it was.
  init(
    _ sound: ScheduledSound, sampleRate: Double, channelCount: Int, stretch: PlaybackStretch? = nil
  ) throws(AudioError) {
    let format = sound.sourceFormat
    self.channelCount = channelCount
    let from = Int(format.sampleRate), to = Int(sampleRate)
    let frameCount: Int64
    switch sound.content {
    case .buffer(let buffer):
      let converted: ConvertedSound<BufferSound>
      do throws(RateConversionError) {
        converted = try ConvertedSound(BufferSound(buffer: buffer), sampleRate: to)
      } catch {
        throw AudioError(.internal, error.message)
      }
      source = .buffer(converted)
      sourceChannels = converted.channelCount
      frameCount = max(1, converted.frameCount)
    case .file(let file, let start, let count):
      let converted = try file.read { reader throws(SoundFileError) in
        do throws(RateConversionError) {
          return try ConvertedSound(reader, sampleRate: to)
        } catch {
          throw .unsupported(path: reader.path, reason: error.message)
        }
      }
      let first = RateConverter.convertedLength(of: start, from: from, to: to)
      let last = RateConverter.convertedLength(of: start + count, from: from, to: to)
      source = .file(file, converted, start: first)
      sourceChannels = converted.channelCount
      frameCount = max(1, min(last, converted.frameCount) - first)
    }
    guard Self.canMix(sourceChannels, channelCount) else {
      throw .mismatch(
        format, AudioFormat(sampleRate: sampleRate, channelCount: channelCount),
        "a player takes its own channels, or one for two")
    }
    let played = RateConverter.convertedLength(of: sound.playedBefore, from: from, to: to)
    segment = .allocate(capacity: 1)
    if let stretch,
      let stretcher = TimeStretcher(sampleRate: sampleRate, channelCount: channelCount, stretch)
    {
      stretching = Stretching(
        stretcher, stretch, frameCount: Int(clamping: frameCount), position: Int(played),
        isLooping: sound.options.contains(.loops), channelCount: channelCount)
      segment.initialize(
        to: SoundSegment(
          openEnded: sound.id, channelCount: channelCount, capacity: 2 * Self.pieceFrames, entry: sound.entry,
          startFrame: sound.playedBefore > 0 ? nil : sound.startFrame))
      return
    }
    stretching = nil
    segment.initialize(
      to: SoundSegment(
        id: sound.id, channelCount: channelCount, frameCount: Int(clamping: frameCount),
        offset: Int(min(played, max(0, frameCount - 1))), isLooping: sound.options.contains(.loops), entry: sound.entry,
        startFrame: sound.playedBefore > 0 ? nil : sound.startFrame))
  }

  deinit {
    segment.deinitialize(count: 1)
    segment.deallocate()
  }

  /// Channels that a player takes: as many as it has, one for two, two for one (R8).
  static func canMix(_ source: Int, _ player: Int) -> Bool {
    source == player || (source == 1 && player == 2) || (source == 2 && player == 1)
  }

  /// The frames played so far, at the source's rate; of a loop, those of the present pass.
  func played(of sound: ScheduledSound, sampleRate: Double) -> Int64 {
    if let stretching {
      // What has been read and not been played lies between the two.
      let ahead = Int(Double(framesAhead) * stretching.wanted.withLock { $0.rate })
      return RateConverter.convertedLength(
        of: Int64(max(0, stretching.position - ahead)), from: Int(sampleRate), to: Int(sound.sourceFormat.sampleRate))
    }
    let consumed = segment.pointee.consumed.load(ordering: .acquiring) % segment.pointee.frameCount
    return RateConverter.convertedLength(
      of: Int64(consumed), from: Int(sampleRate), to: Int(sound.sourceFormat.sampleRate))
  }

  /// Has what is read from now on played at another speed or pitch, where it can be.
  func setStretch(_ stretch: PlaybackStretch) { stretching?.wanted.withLock { $0 = stretch } }

  /// True when all that will ever be read has been.
  var isComplete: Bool { segment.pointee.isComplete.load(ordering: .acquiring) }

  /// The frames that can be played before reading has to go on.
  var framesAhead: Int {
    segment.pointee.written.load(ordering: .acquiring) - segment.pointee.consumed.load(ordering: .acquiring)
  }

  /// The frames that are still to be played, read or not.
  var framesLeft: Int {
    if segment.pointee.isLooping { return .max }
    if segment.pointee.isOpenEnded { return isComplete ? framesAhead : .max }
    return segment.pointee.frameCount - segment.pointee.consumed.load(ordering: .acquiring)
  }

  /// Reads one piece where there is room for it; false where there is none. Throws once where the source has broken.
  func advance() throws(AudioError) -> Bool {
    let result: Result<Bool, AudioError> = lock.withLock { _ in
      var (at, count) = segment.pointee.room()
      count = min(count, Self.pieceFrames)
      // Small pieces of a long file would cost more than they bring.
      let isFull = !segment.pointee.isWhole && framesAhead > segment.pointee.capacity - Self.pieceFrames
      if count == 0 || isFull { return .success(false) }
      let written = segment.pointee.written.load(ordering: .relaxed)
      do throws(AudioError) {
        if let stretching {
          let made = try fill(at, count, stretching)
          segment.pointee.advance(by: made)
          if made == 0 { segment.pointee.finish() }
          return .success(made > 0)
        }
        let most = min(count, segment.pointee.frameCount - written % segment.pointee.frameCount)
        let read = try fill(
          segment.pointee.samples + at, segment.pointee.capacity, most, from: written % segment.pointee.frameCount)
        segment.pointee.advance(by: read)
        if read == 0 { segment.pointee.breakOff() }
        return .success(read > 0)
      } catch {
        segment.pointee.breakOff()
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Writes frames at another speed; 0 where all of the source has been given.
  private func fill(_ at: Int, _ count: Int, _ stretching: Stretching) throws(AudioError) -> Int {
    stretching.stretcher.change(to: stretching.wanted.withLock { $0 })
    let planes = (0..<channelCount).map { segment.pointee.samples + $0 * segment.pointee.capacity + at }
    while true {
      let made = stretching.stretcher.read(into: planes, count: count)
      if made > 0 || stretching.hasEnded { return made }
      let place = stretching.position % stretching.frameCount
      let stride = stretching.stretcher.longestPiece
      var read = 0
      if stretching.isLooping || stretching.position < stretching.frameCount {
        read = try fill(stretching.input, stride, min(stride, stretching.frameCount - place), from: place)
        stretching.position += read
      }
      stretching.hasEnded = read == 0 || (!stretching.isLooping && stretching.position >= stretching.frameCount)
      stretching.stretcher.write(
        (0..<channelCount).map { UnsafePointer(stretching.input + $0 * stride) }, count: read,
        isFinal: stretching.hasEnded)
    }
  }

  /// Writes `count` frames of the source from `position` on, a channel each `stride` samples; how many there were.
  private func fill(
    _ target: UnsafeMutablePointer<Float>, _ stride: Int, _ count: Int, from position: Int
  ) throws(AudioError) -> Int {
    if piece.count < Self.pieceFrames * sourceChannels {
      piece = [Float](repeating: 0, count: Self.pieceFrames * sourceChannels)
    }
    let read = try readPiece(count, from: Int64(position))
    let channels = sourceChannels
    for channel in 0..<channelCount {
      piece.withUnsafeBufferPointer { piece in
        put(read, channel, target + channel * stride) { frame, channel in piece[frame * channels + channel] }
      }
    }
    return read
  }

  /// Reads up to `count` interleaved frames from `position` on into the piece; how many there were.
  private func readPiece(_ count: Int, from position: Int64) throws(AudioError) -> Int {
    switch source {
    case .buffer(let converted):
      do throws(SoundFileError) {
        return try read(converted, count, from: position)
      } catch {
        throw AudioError(error)
      }
    case .file(let file, let converted, let start):
      return try file.read { _ throws(SoundFileError) in try read(converted, count, from: start + position) }
    }
  }

  private func read<Sound: SampleSource>(
    _ converted: ConvertedSound<Sound>, _ count: Int, from position: Int64
  ) throws(SoundFileError) -> Int {
    try piece.withUnsafeMutableBufferPointer { samples throws(SoundFileError) in
      guard let base = samples.baseAddress else { return 0 }
      // Sound that is too short for one frame of the engine's rate is one of silence.
      if converted.frameCount == 0 { samples.update(repeating: 0) }
      return converted.frameCount == 0 ? 1 : try converted.read(at: position, into: base, count: count)
    }
  }

  /// Writes one channel of the segment, by R8 where the source has another number.
  private func put(
    _ count: Int, _ channel: Int, _ target: UnsafeMutablePointer<Float>,
    _ sample: (_ frame: Int, _ channel: Int) -> Float
  ) {
    if sourceChannels == channelCount {
      for frame in 0..<count { target[frame] = sample(frame, channel) }
    } else if sourceChannels == 1 {
      for frame in 0..<count { target[frame] = sample(frame, 0) }
    } else {
      for frame in 0..<count { target[frame] = (sample(frame, 0) + sample(frame, 1)) * 0.5 }
    }
  }
}
