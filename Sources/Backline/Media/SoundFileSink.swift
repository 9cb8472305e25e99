import BacklineMedia
import CBackline

/// Writes a sound file of one track: what begins late and what is missing between samples is silence, so that everything keeps its
/// time. The writing thread's.
final class SoundFileSink: MediaSink {
  private let path: String
  private let container: MediaWriter.Container
  private let encoding: SoundFileEncoding
  private let staged: StagedFile
  private var writer: SoundFileWriter?
  private var session: MediaSession
  private var placement: SoundPlacement
  private var isFinished = false
  private let refreshNanoseconds: Int64?
  private var nextRefresh: Int64 = 0

  private static let pieceFrames = 4096

  init(
    path: String, container: MediaWriter.Container, settings: AudioSettings, refreshInterval: MediaTime?
  ) throws(MediaError) {
    self.path = path
    self.container = container
    session = MediaSession(path: path)
    placement = SoundPlacement(path: path, settings, fillsStart: true)
    refreshNanoseconds = refreshInterval.map { max(1_000_000, $0.converted(to: 1_000_000_000).value) }
    encoding = try container.encoding(settings)
    do throws(SoundFileWriteError) {
      staged = try StagedFile(path, replacing: false, isRecoverable: refreshInterval != nil)
    } catch {
      throw MediaError(.cannotCreate, error.message)
    }
  }

  func startSession(at time: MediaTime) throws(MediaError) {
    try session.start(at: time)
    var metadata = SoundFileMetadata()
    // What the sound's first frame is in the time of its source: the reference of a broadcast wave file.
    if container == .broadcastWave {
      metadata.setTimeReference(max(0, time.converted(to: Int32(encoding.sampleRate)).value))
    }
    do throws(SoundFileWriteError) {
      writer = try SoundFileWriter(
        descriptor: staged.descriptor, path: path, encoding: encoding, metadata: metadata)
    } catch {
      throw MediaError(.failed, error.message)
    }
  }

  func endSession(at time: MediaTime) throws(MediaError) { try session.end(at: time) }

  func append(_ sample: MediaSample, to index: Int) throws(MediaError) {
    if isFinished { throw MediaError(.finished, "\(path): track \(index) was finished before") }
    if sample.format.mediaType != .audio {
      throw MediaError(
        .wrongTrack, "\(path): a sample of \(sample.format.mediaType) does not belong to a track of audio")
    }
    let place = try placement.place(sample, session)
    if place.frames.isEmpty { return }
    try writeSilence(place.silence)
    try sample.withFloats { samples throws(MediaError) in
      try write(samples + place.frames.lowerBound * encoding.channelCount, place.frames.count)
    }
    try refresh()
  }

  private func writeSilence(_ frames: Int64) throws(MediaError) {
    if frames <= 0 { return }
    let silence = [Float](repeating: 0, count: Self.pieceFrames * encoding.channelCount)
    var left = frames
    while left > 0 {
      let count = Int(min(left, Int64(Self.pieceFrames)))
      try silence.withUnsafeBufferPointer { samples throws(MediaError) in
        if let base = samples.baseAddress { try write(base, count) }
      }
      left -= Int64(count)
    }
  }

  private func write(_ samples: UnsafePointer<Float>, _ frames: Int) throws(MediaError) {
    do throws(SoundFileWriteError) {
      try writer?.write(samples, frames: frames)
    } catch {
      throw MediaError(.failed, error.message)
    }
  }

  /// Brings the header up to what is there, where that was asked for and is due.
  private func refresh() throws(MediaError) {
    guard let refreshNanoseconds, backline_now() >= nextRefresh else { return }
    nextRefresh = backline_now() + refreshNanoseconds
    do throws(SoundFileWriteError) {
      try writer?.updateHeader()
    } catch {
      throw MediaError(.failed, error.message)
    }
  }

  func finish(_ index: Int) { isFinished = true }

  func publish() throws(MediaError) {
    guard let writer, writer.frameCount > 0 else {
      throw MediaError(.empty, "\(path): nothing was appended, and a file of nothing is of no use")
    }
    do throws(SoundFileWriteError) {
      try writer.finish()
      try staged.publish { name throws(SoundFileWriteError) in
        let missing = try writer.verify(name)
        if !missing.isEmpty { throw .notVerified(path: path, reason: "has no \(missing.joined(separator: ", "))") }
      }
    } catch {
      throw MediaError(.failed, error.message)
    }
  }

  func discard() {
    writer = nil
    staged.discard()
  }

  var waitingTracks: [Int] { [] }
}
