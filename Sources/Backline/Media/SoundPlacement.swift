/// Where the sound of a track goes on: its times become frames once, and what is missing between them is silence.
struct SoundPlacement {
  /// What is to be done with a sample: so many silent frames first, then these of its frames.
  struct Place: Equatable {
    let silence: Int64
    let frames: Range<Int>
  }

  /// The longest gap, in seconds: a time beyond is one that somebody has got wrong.
  static let longestGap: Int64 = 86_400

  let path: String
  let sampleRate: Int32
  let channelCount: Int
  /// The frame after the latest, counted from the session's start; `nil` while the start is open.
  private(set) var next: Int64?

  /// A track whose first frame is the session's start, or with `fillsStart` false its first sample.
  init(path: String, _ settings: AudioSettings, fillsStart: Bool) {
    self.path = path
    sampleRate = Int32(settings.sampleRate)
    channelCount = settings.channelCount
    next = fillsStart ? 0 : nil
  }

  /// The end of what has come so far.
  var end: MediaTime { MediaTime(value: next ?? 0, timescale: sampleRate) }

  /// Places a sample in a session, and cuts what is outside of that. Refuses one that begins before the end of the one before it;
  /// times that are counted more coarsely than frames may be off by less than one of their units.
  mutating func place(_ sample: MediaSample, _ session: MediaSession) throws(MediaError) -> Place {
    let origin = try session.check(sample)
    guard sample.format.isPlain, sample.format.sampleRate == Int(sampleRate),
      sample.format.channelCount == channelCount
    else {
      throw MediaError(
        .wrongTrack,
        "\(path): a track of \(channelCount) channels at \(sampleRate) Hz takes no sound of"
          + " \(sample.format.channelCount) at \(sample.format.sampleRate) (\(sample.format.codec))")
    }
    let count = sample.bytes.count / (channelCount * MemoryLayout<Float>.stride)
    let begin = (sample.presentationTime - origin).converted(to: sampleRate).value
    let first = min(Int64(count), max(0, -begin))
    var last = Int64(count)
    if let end = session.end { last = min(last, (end - origin).converted(to: sampleRate).value - begin) }
    if first >= last { return Place(silence: 0, frames: 0..<0) }
    var start = begin + first
    let before = next ?? start
    let unit = sample.presentationTime.timescale
    let slack = unit < sampleRate ? Int64(sampleRate / unit) : 0
    if abs(start - before) <= slack { start = before }
    if start < before {
      throw MediaError(
        .notMonotonic,
        "\(path): sound at \(sample.presentationTime) begins \(before - start) frames before the end of what came before"
      )
    }
    if start - before > Self.longestGap * Int64(sampleRate) {
      throw MediaError(.outsideSession, "\(path): sound at \(sample.presentationTime) leaves a gap of more than a day")
    }
    next = start + (last - first)
    return Place(silence: start - before, frames: Int(first)..<Int(last))
  }
}
