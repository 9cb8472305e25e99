import BacklineMedia
import CMovie
import Glibc

/// Puts the samples of several tracks in one order and into a file. The writing thread's.
///
/// A track's samples wait for those of the others, a bounded number of bytes of them: then they are written all the same, so
/// that a track that never comes holds up nobody.
final class MediaMuxer {
  /// What waits of one track.
  private struct Track {
    var waiting: [(packet: movie_packet, bytes: [UInt8], time: MediaTime)] = []
    var waitingBytes = 0
    var isFinished = false
    var lastDecodeTime: MediaTime?
    /// The end of the latest sample.
    var end: MediaTime?
    var sampleCount = 0
  }

  private let path: String
  private let formatName: String
  private let staged: StagedFile
  private let formats: [MediaFormat]
  private var tracks: [Track]
  private var writer: OpaquePointer?
  private let limitBytes: Int
  private let maximumImbalance: MediaTime
  private var origin: MediaTime?
  private var end: MediaTime?

  init(
    path: String, formatName: String, formats: [MediaFormat], limitBytes: Int, maximumImbalance: MediaTime
  ) throws(MediaError) {
    self.path = path
    self.formatName = formatName
    self.formats = formats
    self.limitBytes = limitBytes
    self.maximumImbalance = maximumImbalance
    tracks = formats.map { _ in Track() }
    do throws(SoundFileWriteError) {
      staged = try StagedFile(path, replacing: false)
    } catch {
      throw MediaError(.cannotCreate, error.message)
    }
    let name = staged.temporaryPath
    let (made, reason) = MediaFile.call { movie_writer_create(name, formatName, $0) }
    guard let made else { throw MediaError(.cannotCreate, "\(path): \(reason)") }
    writer = made
    for format in formats where movie_writer_add(made, format.file.reader, format.track) < 0 {
      throw MediaError(.unsupported, "\(path): a track of \(format.codec) cannot be added")
    }
    // Edit lists are counted in the movie's time, which has to hold a sample of sound.
    let scale = Int32(clamping: formats.map(\.sampleRate).max() ?? 0)
    let (hasBegun, why) = MediaFile.call { movie_writer_begin(made, max(1_000, scale), $0) }
    if !hasBegun { throw MediaError(.unsupported, "\(path): \(why)") }
  }

  deinit { if let writer { movie_writer_free(writer) } }

  /// Source times count from here.
  func startSession(at time: MediaTime) throws(MediaError) {
    if origin != nil { throw MediaError(.wrongState, "\(path): a session has begun already, and a file has one") }
    origin = time
  }

  /// Nothing that begins at `time` or later belongs to the file.
  func endSession(at time: MediaTime) throws(MediaError) {
    guard let origin, end == nil, time >= origin else {
      throw MediaError(.wrongState, "\(path): there is no session that could end at \(time)")
    }
    end = time
  }

  func append(_ sample: MediaSample, to index: Int) throws(MediaError) {
    guard let origin else {
      throw MediaError(.wrongState, "\(path): no session has begun: call startSession(at:) before the first sample")
    }
    if tracks[index].isFinished { throw MediaError(.finished, "\(path): track \(index) was finished before") }
    if sample.format != formats[index] && sample.format.mediaType != formats[index].mediaType {
      throw MediaError(
        .wrongTrack,
        "\(path): a sample of \(sample.format.mediaType) does not belong to a track of"
          + " \(formats[index].mediaType)")
    }
    if sample.presentationTime + sample.duration <= origin {
      throw MediaError(.outsideSession, "\(path): a sample at \(sample.presentationTime) ends before the session")
    }
    if let end, sample.presentationTime >= end {
      throw MediaError(.outsideSession, "\(path): a sample at \(sample.presentationTime) begins after the session")
    }
    if let last = tracks[index].lastDecodeTime, sample.decodeTime <= last {
      throw MediaError(.notMonotonic, "\(path): a sample at \(sample.decodeTime) does not come after \(last)")
    }
    let place = try placed(sample, origin, index)
    tracks[index].lastDecodeTime = sample.decodeTime
    tracks[index].end = max(tracks[index].end ?? .zero, sample.presentationTime + sample.duration - origin)
    tracks[index].sampleCount += 1
    tracks[index].waiting.append((place, sample.bytes, sample.decodeTime - origin))
    tracks[index].waitingBytes += sample.bytes.count
    try checkBalance(index)
    try write()
  }

  func finish(_ index: Int) throws(MediaError) {
    tracks[index].isFinished = true
    try write()
  }

  /// The packet of a sample, its times counted from the session's start in one scale that holds them.
  private func placed(
    _ sample: MediaSample, _ origin: MediaTime, _ index: Int
  ) throws(MediaError) -> movie_packet {
    let presentation = sample.presentationTime - origin
    let decode = (sample.decodeTime - origin).converted(to: presentation.timescale)
    var packet = movie_packet()
    packet.track = Int32(index)
    packet.pts = presentation.value
    packet.dts = decode.value
    packet.duration = sample.duration.converted(to: presentation.timescale).value
    packet.scale_num = 1
    packet.scale_den = presentation.timescale
    packet.is_key = sample.isKey
    return packet
  }

  /// Refuses a track that runs far ahead of one that has not been finished.
  private func checkBalance(_ index: Int) throws(MediaError) {
    guard let ahead = tracks[index].end else { return }
    for (other, track) in tracks.enumerated() where other != index && !track.isFinished {
      if ahead - (track.end ?? .zero) > maximumImbalance {
        throw MediaError(
          .imbalance,
          "\(path): track \(index) is more than \(maximumImbalance.seconds) s ahead of track \(other), which"
            + " waits for samples: append to it, or finish it")
      }
    }
  }

  /// Writes what is next in time, while all tracks that go on have something, or one has waited for too many bytes.
  private func write() throws(MediaError) {
    while true {
      let isAllThere = tracks.allSatisfy { $0.isFinished || !$0.waiting.isEmpty }
      let isFull = tracks.contains { $0.waitingBytes > limitBytes }
      if !isAllThere && !isFull { return }
      let candidates = tracks.indices.filter { !tracks[$0].waiting.isEmpty }
      guard let next = candidates.min(by: { tracks[$0].waiting[0].time < tracks[$1].waiting[0].time }) else { return }
      try write(from: next)
    }
  }

  private func write(from index: Int) throws(MediaError) {
    let (packet, bytes, _) = tracks[index].waiting.removeFirst()
    tracks[index].waitingBytes -= bytes.count
    guard let writer else { return }
    let (isWritten, reason) = bytes.withUnsafeBufferPointer { buffer in
      var packet = packet
      packet.bytes = buffer.baseAddress
      packet.count = Int64(buffer.count)
      return MediaFile.call { movie_writer_write(writer, &packet, $0) }
    }
    if !isWritten { throw MediaError(.failed, "\(path): \(reason)") }
  }

  /// Writes the rest, checks the file, and gives it its name.
  func publish() throws(MediaError) {
    guard let writer else { return }
    if tracks.allSatisfy({ $0.sampleCount == 0 }) {
      throw MediaError(.empty, "\(path): nothing was appended, and a file of nothing is of no use")
    }
    for index in tracks.indices { try finish(index) }
    let (isFinished, reason) = MediaFile.call { movie_writer_finish(writer, $0) }
    movie_writer_free(writer)
    self.writer = nil
    if !isFinished { throw MediaError(.failed, "\(path): \(reason)") }
    do throws(SoundFileWriteError) {
      try staged.publish { name throws(SoundFileWriteError) in
        do throws(MediaError) {
          try verify(name)
        } catch {
          throw .notVerified(path: path, reason: error.message)
        }
      }
    } catch {
      throw MediaError(.failed, error.message)
    }
  }

  /// Reads the file back: every track has all its samples.
  private func verify(_ name: String) throws(MediaError) {
    let reader = try MediaReader(path: name)
    var counts = [Int](repeating: 0, count: reader.tracks.count)
    while let sample = try reader.nextSample() { counts[sample.track] += 1 }
    let wanted = tracks.map(\.sampleCount)
    if counts != wanted { throw MediaError(.failed, "has \(counts) samples, not \(wanted)") }
  }

  /// Takes the unfinished file away.
  func discard() {
    if let writer { movie_writer_free(writer) }
    writer = nil
    staged.discard()
  }

  /// The tracks that others wait for.
  var waitingTracks: [Int] {
    let isAnyWaiting = tracks.contains { !$0.waiting.isEmpty }
    return tracks.indices.filter { isAnyWaiting && !tracks[$0].isFinished && tracks[$0].waiting.isEmpty }
  }
}
