import BacklineMedia
import CMovie
import Glibc

/// Puts the samples of several tracks in one order and into a movie. The writing thread's.
///
/// A track's samples wait for those of the others, a bounded number of bytes of them: then they are written all the same, so
/// that a track that never comes holds up nobody.
final class MediaMuxer: MediaSink {
  private let path: String
  private let container: MediaWriter.Container
  private let staged: StagedFile
  private var tracks: [MediaTrack]
  private var writer: OpaquePointer?
  private let limitBytes: Int
  private let maximumImbalance: MediaTime
  private var session: MediaSession

  init(
    path: String, container: MediaWriter.Container, inputs: [MediaWriter.Input], limitBytes: Int,
    maximumImbalance: MediaTime, fragmentInterval: MediaTime?
  ) throws(MediaError) {
    self.path = path
    self.container = container
    self.limitBytes = limitBytes
    self.maximumImbalance = maximumImbalance
    session = MediaSession(path: path)
    var tracks: [MediaTrack] = []
    for input in inputs { tracks.append(MediaTrack(try MediaTrack.Kind(input, path: path))) }
    self.tracks = tracks
    do throws(SoundFileWriteError) {
      staged = try StagedFile(path, replacing: false, isRecoverable: fragmentInterval != nil)
    } catch {
      throw MediaError(.cannotCreate, error.message)
    }
    let (name, formatName) = (staged.temporaryPath, container.formatName)
    let (made, reason) = MediaFile.call { movie_writer_create(name, formatName, $0) }
    guard let made else { throw MediaError(.cannotCreate, "\(path): \(reason)") }
    writer = made
    // Edit lists are counted in the movie's time, which has to hold a sample of sound.
    let scale = Int32(clamping: max(1_000, inputs.map(\.sampleRate).max() ?? 0))
    for (track, input) in zip(tracks, inputs) where !track.kind.add(to: made, timescale: scale) {
      throw MediaError(.unsupported, "\(path): a track of \(input.codecName) cannot be added")
    }
    let fragment = fragmentInterval.map { max(1, $0.converted(to: 1_000).value) } ?? 0
    let (hasBegun, why) = MediaFile.call { movie_writer_begin(made, scale, fragment, $0) }
    if !hasBegun { throw MediaError(.unsupported, "\(path): \(why)") }
  }

  deinit { if let writer { movie_writer_free(writer) } }

  func startSession(at time: MediaTime) throws(MediaError) { try session.start(at: time) }

  func endSession(at time: MediaTime) throws(MediaError) { try session.end(at: time) }

  func append(_ sample: MediaSample, to index: Int) throws(MediaError) {
    if tracks[index].isFinished { throw MediaError(.finished, "\(path): track \(index) was finished before") }
    let mediaType = tracks[index].kind.mediaType
    if sample.format.mediaType != mediaType {
      throw MediaError(
        .wrongTrack, "\(path): a sample of \(sample.format.mediaType) does not belong to a track of \(mediaType)")
    }
    switch tracks[index].kind {
    case .copied: try appendCoded(sample, index)
    case .encoded(let encoder): try appendSound(sample, encoder, index)
    case .text: try appendText(sample, index)
    }
    try checkBalance(index)
    try write()
  }

  private func appendCoded(_ sample: MediaSample, _ index: Int) throws(MediaError) {
    let origin = try session.check(sample)
    if sample.format.isPlain {
      throw MediaError(.wrongTrack, "\(path): track \(index) takes coded samples, and this one is not coded")
    }
    try tracks[index].checkOrder(sample, path)
    let presentation = sample.presentationTime - origin
    // One scale that holds all three.
    let scale = (presentation + sample.duration + (sample.decodeTime - origin)).timescale
    var packet = movie_packet()
    packet.pts = presentation.converted(to: scale).value
    packet.dts = (sample.decodeTime - origin).converted(to: scale).value
    packet.duration = sample.duration.converted(to: scale).value
    packet.scale_num = 1
    packet.scale_den = scale
    packet.is_key = sample.isKey
    packet.padding = sample.padding
    tracks[index].take(CodedPacket(packet, bytes: sample.bytes), end: presentation + sample.duration)
  }

  private func appendSound(_ sample: MediaSample, _ encoder: MediaEncoder, _ index: Int) throws(MediaError) {
    var placement =
      tracks[index].placement ?? SoundPlacement(path: path, encoder.settings, fillsStart: encoder.hasPadding)
    let isFirst = tracks[index].placement == nil
    let place = try placement.place(sample, session)
    if place.frames.isEmpty { return }
    if isFirst {
      encoder.begin(at: encoder.hasPadding ? 0 : (placement.next ?? 0) - Int64(place.frames.count) - place.silence)
    }
    tracks[index].placement = placement
    let take = { [self] (packet: CodedPacket) throws(MediaError) in
      tracks[index].take(packet, end: placement.end)
      // A long silence is not gathered in memory.
      if tracks[index].waitingBytes > limitBytes { try write() }
    }
    try encoder.encodeSilence(place.silence, take)
    let channels = encoder.settings.channelCount
    try sample.withFloats { samples throws(MediaError) in
      try encoder.encode(samples + place.frames.lowerBound * channels, frames: place.frames.count, take)
    }
    tracks[index].end = placement.end
  }

  private func appendText(_ sample: MediaSample, _ index: Int) throws(MediaError) {
    let origin = try session.check(sample)
    try tracks[index].checkOrder(sample, path)
    guard let text = sample.text, text.utf8.count <= Int(UInt16.max) else {
      throw MediaError(.unsupported, "\(path): a text of timed metadata has at most 65535 bytes")
    }
    let begin = sample.presentationTime - origin
    // What has no duration could not be found again.
    let end = begin + max(sample.duration, MediaTime(value: 1, timescale: 1_000))
    if container != .matroska, begin > tracks[index].end ?? .zero {
      // Timed text holds until the next: nothing is a text, too.
      tracks[index].take(.text([0, 0], from: tracks[index].end ?? .zero, to: begin), end: begin)
    }
    let bytes = Array(text.utf8)
    let length = container == .matroska ? [] : [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
    tracks[index].take(.text(length + bytes, from: begin, to: end), end: end)
  }

  func finish(_ index: Int) throws(MediaError) {
    if !tracks[index].isFinished, case .encoded(let encoder) = tracks[index].kind, tracks[index].placement != nil {
      let end = tracks[index].end ?? .zero
      try encoder.finish { [self] packet in tracks[index].take(packet, end: end) }
    }
    tracks[index].isFinished = true
    try write()
  }

  /// Refuses a track that runs far ahead of one that has not been finished.
  private func checkBalance(_ index: Int) throws(MediaError) {
    guard let ahead = tracks[index].end else { return }
    for (other, track) in tracks.enumerated()
    where other != index && !track.isFinished && track.kind.mediaType != .metadata {
      if ahead - (track.end ?? .zero) > maximumImbalance {
        throw MediaError(
          .imbalance,
          "\(path): track \(index) is more than \(maximumImbalance.seconds) s ahead of track \(other), which"
            + " waits for samples: append to it, or finish it")
      }
    }
  }

  /// Writes what is next in time, while all tracks that go on have something, or one has waited for too many bytes. Nobody waits
  /// for metadata, which comes when something happens.
  private func write() throws(MediaError) {
    while true {
      let isAllThere = tracks.allSatisfy { $0.isFinished || !$0.waiting.isEmpty || $0.kind.mediaType == .metadata }
      let isFull = tracks.contains { $0.waitingBytes > limitBytes }
      if !isAllThere && !isFull { return }
      let candidates = tracks.indices.filter { !tracks[$0].waiting.isEmpty }
      guard let next = candidates.min(by: { tracks[$0].waiting[0].time < tracks[$1].waiting[0].time }) else { return }
      try write(from: next)
    }
  }

  private func write(from index: Int) throws(MediaError) {
    let coded = tracks[index].removeFirst()
    guard let writer else { return }
    let (isWritten, reason) = coded.bytes.withUnsafeBufferPointer { bytes in
      coded.setup.withUnsafeBufferPointer { setup in
        var packet = coded.packet
        packet.track = Int32(index)
        packet.bytes = bytes.baseAddress
        packet.count = Int64(bytes.count)
        packet.setup = setup.baseAddress
        packet.setup_count = Int64(setup.count)
        return MediaFile.call { movie_writer_write(writer, &packet, $0) }
      }
    }
    if !isWritten { throw MediaError(.failed, "\(path): \(reason)") }
  }

  func publish() throws(MediaError) {
    for index in tracks.indices { try finish(index) }
    guard let writer else { return }
    if tracks.allSatisfy({ $0.proof.count == 0 }) {
      throw MediaError(.empty, "\(path): nothing was appended, and a file of nothing is of no use")
    }
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
    var proofs = [MediaProof](repeating: MediaProof(), count: reader.tracks.count)
    while let sample = try reader.nextSample() { proofs[sample.track].note(sample.bytes) }
    guard proofs.count == tracks.count else {
      throw MediaError(.failed, "has \(proofs.count) tracks, not \(tracks.count)")
    }
    for (index, track) in tracks.enumerated() {
      if let difference = track.difference(to: proofs[index]) {
        throw MediaError(.failed, "has in track \(index) \(difference)")
      }
    }
  }

  func discard() {
    if let writer { movie_writer_free(writer) }
    writer = nil
    staged.discard()
  }

  var waitingTracks: [Int] {
    let isAnyWaiting = tracks.contains { !$0.waiting.isEmpty }
    return tracks.indices.filter { index in
      let track = tracks[index]
      return isAnyWaiting && !track.isFinished && track.waiting.isEmpty && track.kind.mediaType != .metadata
    }
  }
}
