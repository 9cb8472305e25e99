import CBackline

/// Sound as it is at another sample rate, readable from any frame.
///
/// The converted sound is worked out in blocks of a fixed place and length, each by a converter that starts anew some way
/// before the block, where input and output frames coincide. So a frame's samples depend on the source alone, to the bit:
/// not on seeks, loops, or the pieces asked for. Against one conversion from the source's start the difference is below
/// 1e-6 of full scale (measured: none for most pairs of rates). Used by one thread at a time.
public final class ConvertedSound<Source: SampleSource> {
  /// Input frames that a converter is fed before a block, times the ratio where the rate falls: more than half the length
  /// of libsoxr's longest filter.
  private static var leadFrames: Int { 512 }
  /// The least length of a block in output frames.
  private static var leastBlockFrames: Int { 16_384 }
  /// The frames that go into a converter at once.
  private static var pieceFrames: Int { 4096 }

  public let source: Source
  public let sampleRate: Int
  /// The channels that are read, counted from the first.
  public let channelCount: Int
  /// The length in frames of `sampleRate`.
  public let frameCount: Int64

  private var converter: RateConverter?
  /// The smallest numbers of frames, in and out, that last equally long.
  private let inputPeriod: Int
  private let outputPeriod: Int
  private let blockFrames: Int
  private var blockIndex: Int64 = -1
  /// The converted block, a piece of the source with all its channels, and what a converter gives before the block.
  private let block: FloatBuffer
  private let piece: FloatBuffer
  private let dropped: FloatBuffer

  /// `source` at `sampleRate`, of which at most the first `channelLimit` channels are read.
  public init(
    _ source: Source, sampleRate: Int, channelLimit: Int = SoundFileReader.maximumChannelCount,
    quality: RateConverter.Quality = .veryHigh
  ) throws(RateConversionError) {
    self.source = source
    self.sampleRate = sampleRate
    let ownRate = source.sampleRate
    channelCount = min(source.channelCount, channelLimit)
    frameCount = RateConverter.convertedLength(of: source.frameCount, from: ownRate, to: sampleRate)
    if sampleRate != ownRate {
      converter = try RateConverter(
        inputRate: ownRate, outputRate: sampleRate, channelCount: channelCount, quality: quality)
    }
    let divisor = greatestCommonDivisor(ownRate, sampleRate)
    inputPeriod = ownRate / divisor
    outputPeriod = sampleRate / divisor
    let lead = Self.leadFrames * max(1, sampleRate / ownRate)
    blockFrames = roundedUp(max(Self.leastBlockFrames, 2 * lead), to: outputPeriod)
    block = FloatBuffer(sampleRate == ownRate ? 0 : blockFrames * channelCount)
    piece = FloatBuffer(Self.pieceFrames * source.channelCount)
    dropped = FloatBuffer(sampleRate == ownRate ? 0 : Self.pieceFrames * channelCount)
  }

  /// Writes up to `count` interleaved frames from `frame` on and returns how many: fewer only at the end.
  public func read(
    at frame: Int64, into samples: UnsafeMutablePointer<Float>, count: Int
  ) throws(SoundFileError) -> Int {
    if frame < 0 || frame >= frameCount { return 0 }
    let wanted = Int(min(Int64(count), frameCount - frame))
    if converter == nil { return try readPlain(at: frame, into: samples, count: wanted) }
    var done = 0
    while done < wanted {
      let at = frame + Int64(done)
      try prepareBlock(at / Int64(blockFrames))
      let offset = Int(at % Int64(blockFrames))
      let length = min(wanted - done, blockFrames - offset)
      backline_copy(
        samples + done * channelCount, block.base + offset * channelCount, Int64(length * channelCount))
      done += length
    }
    return done
  }

  // MARK: Reading

  /// Reads at the source's own rate, leaving out the channels above the limit.
  private func readPlain(
    at frame: Int64, into samples: UnsafeMutablePointer<Float>, count: Int
  ) throws(SoundFileError) -> Int {
    let ownChannels = source.channelCount
    if channelCount == ownChannels { return try source.read(at: frame, into: samples, count: count) }
    let read = try source.read(at: frame, into: piece.base, count: min(count, Self.pieceFrames))
    for index in 0..<read {
      for channel in 0..<channelCount {
        samples[index * channelCount + channel] = piece.base[index * ownChannels + channel]
      }
    }
    return read
  }

  // MARK: Converting

  private func prepareBlock(_ index: Int64) throws(SoundFileError) {
    if index == blockIndex { return }
    blockIndex = -1
    let count = Int(min(Int64(blockFrames), frameCount - index * Int64(blockFrames)))
    let periods = index * Int64(blockFrames / outputPeriod)
    let ratio = max(1, source.sampleRate / sampleRate + 1)
    let leadPeriods = min(periods, Int64(roundedUp(Self.leadFrames * ratio, to: inputPeriod) / inputPeriod))
    let start = (periods - leadPeriods) * Int64(inputPeriod)
    do throws(RateConversionError) {
      try converter?.restart()
    } catch {
      throw conversionFailed(error)
    }
    try convert(from: start, skipping: Int(leadPeriods) * outputPeriod, count: count)
    blockIndex = index
  }

  /// Fills the block with `count` frames of what a converter fed from the source's frame `start` gives, without its first
  /// `skip` frames.
  private func convert(from start: Int64, skipping skip: Int, count: Int) throws(SoundFileError) {
    backline_zero(block.base, Int64(count * channelCount))
    let input = FloatBuffer(Self.pieceFrames * channelCount)
    var position = start
    var produced = 0
    while produced < skip + count {
      var read = 0
      if position < source.frameCount {
        read = try readPlain(at: position, into: input.base, count: Self.pieceFrames)
      }
      position += Int64(read)
      var consumed = 0
      var isDry = false
      while produced < skip + count && !isDry {
        let isSkipping = produced < skip
        let room = isSkipping ? min(Self.pieceFrames, skip - produced) : skip + count - produced
        let target = isSkipping ? dropped.base : block.base + (produced - skip) * channelCount
        let made = try turn(input.base + consumed * channelCount, read - consumed, isEnd: read == 0, target, room)
        consumed += made.consumed
        produced += made.produced
        isDry = made.produced == 0 && consumed == read
      }
      if read == 0 { return }
    }
  }

  /// One call of the converter: with more input, or after the end for what is left inside.
  private func turn(
    _ input: UnsafePointer<Float>, _ count: Int, isEnd: Bool, _ output: UnsafeMutablePointer<Float>, _ room: Int
  ) throws(SoundFileError) -> (consumed: Int, produced: Int) {
    do throws(RateConversionError) {
      if isEnd { return (0, try converter?.finish(into: output, capacity: room) ?? 0) }
      return try converter?.process(input, count: count, into: output, capacity: room) ?? (0, 0)
    } catch {
      throw conversionFailed(error)
    }
  }

  private func conversionFailed(_ error: RateConversionError) -> SoundFileError {
    .unsupported(path: source.path, reason: error.message)
  }
}

/// Samples in memory of their own.
private final class FloatBuffer {
  let base: UnsafeMutablePointer<Float>

  init(_ count: Int) {
    base = .allocate(capacity: max(1, count))
  }

  deinit { base.deallocate() }
}

private func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
  second == 0 ? first : greatestCommonDivisor(second, first % second)
}

private func roundedUp(_ value: Int, to multiple: Int) -> Int { (value + multiple - 1) / multiple * multiple }
