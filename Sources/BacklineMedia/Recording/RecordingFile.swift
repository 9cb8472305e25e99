import CBackline
import Glibc

/// One file of a recording, under its working name until it is whole.
///
/// The writing thread's until `finish`, the syncing thread's from then on; `sync` may be called by that one at any time.
final class RecordingFile: @unchecked Sendable {
  // Why unchecked: handed from one thread to the other, see above.

  let channels: Range<Int>
  private(set) var path: String
  private let workingPath: String
  private let encoding: SoundFileEncoding
  private let descriptor: Int32
  private let writer: SoundFileWriter
  /// Up to where room on the disk is set aside; the largest number where the file system cannot do that.
  private var reserved: Int64 = 0
  /// Set where the file had to be mended at its end.
  private var isMended = false
  private let journal: MarkerJournal
  /// What it is converted to when it is whole; `nil` where it stays as it is.
  private let target: (container: SoundContainer, sampleFormat: SampleFormat?)?
  /// Why it was not, and has the name of what it is instead.
  private(set) var conversionFailure: SoundFileWriteError?

  /// The header, and the markers behind the sound.
  private static let extraBytes: Int64 = 1 << 16

  /// Makes the file. Nobody else may have the name, now or at the end.
  init(
    path: String, channels: Range<Int>, title: String?, encoding: SoundFileEncoding,
    target: (container: SoundContainer, sampleFormat: SampleFormat?)? = nil
  ) throws(SoundFileWriteError) {
    self.path = path
    self.channels = channels
    self.encoding = encoding
    self.target = target
    try StagedFile.check(path, replacing: false)
    if (path.split(separator: "/").last?.utf8.count ?? 0) > 255 {
      throw .cannotCreate(path: path, reason: "its name is longer than the 255 bytes that a file's name may have")
    }
    workingPath = UnfinishedRecording.workingPath(path)
    journal = MarkerJournal(workingPath)
    descriptor = try UnfinishedRecording.create(workingPath, for: path)
    var metadata = SoundFileMetadata()
    if let title { metadata.setTitle(title) }
    do throws(SoundFileWriteError) {
      writer = try SoundFileWriter(descriptor: descriptor, path: path, encoding: encoding, metadata: metadata)
    } catch {
      unlink(workingPath)
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Takes a file away that nothing has been written to.
  func discard() { unlink(workingPath) }

  var bytesPerFrame: Int64 { Int64(encoding.bytesPerFrame ?? 0) }

  /// Sets room aside for `frames` frames altogether, and where possible `ahead` more. Returns the system's error number where
  /// there is not enough.
  func reserve(_ frames: Int64, ahead: Int64) -> Int32 {
    let needed = Self.extraBytes + frames * bytesPerFrame
    if needed <= reserved { return 0 }
    for target in [needed + ahead * bytesPerFrame, needed] {
      switch backline_reserve(descriptor, reserved, target - reserved) {
      case 0:
        reserved = target
        return 0
      case ENOSPC, EDQUOT, EFBIG: continue
      default:
        // A file system that cannot set room aside: writing will tell.
        reserved = .max
        return 0
      }
    }
    return ENOSPC
  }

  /// Bytes that are set aside and not used yet.
  func unusedBytes(_ frames: Int64) -> Int64 {
    reserved == .max ? 0 : max(0, reserved - Self.extraBytes - frames * bytesPerFrame)
  }

  func write(_ samples: UnsafePointer<Float>, frames: Int) throws(SoundFileWriteError) {
    try writer.write(samples, frames: frames)
  }

  /// Begins the file with `frames` frames of silence, which take no room on the disk.
  func begin(after frames: Int64) throws(SoundFileWriteError) {
    if frames == 0 { return }
    try writer.writeSilence(frames: frames)
    reserved = Self.extraBytes + frames * bytesPerFrame
  }

  func updateHeader() throws(SoundFileWriteError) { try writer.updateHeader() }

  private var keepsMarkers: Bool { encoding.container == .wav || encoding.container == .rf64 }

  /// Has a marker survive a kill.
  func note(_ marker: SoundFileMetadata.Marker) { if keepsMarkers && target == nil { journal.note(marker) } }

  /// Has everything written to the disk; returns the system's error number.
  func sync() -> Int32 {
    journal.sync()
    return fdatasync(descriptor) == 0 ? 0 : errno
  }

  func failWriting(from offset: Int64) { writer.failWriting(from: offset) }

  /// Ends the file at `frames` frames, with markers where the kind of file has them.
  func finish(_ frames: Int64, markers: [SoundFileMetadata.Marker]) throws(SoundFileWriteError) {
    do throws(SoundFileWriteError) {
      try writer.finish()
      if writer.frameCount != frames { throw .failed(path: path, code: EIO) }
    } catch {
      // What cannot be ended as it should is cut to what all tracks have.
      isMended = true
      try RecordingRepair.repair(descriptor, path: path, limit: frames)
    }
    if keepsMarkers {
      let code = CueChunk.append(markers, to: descriptor, dataBytes: frames * bytesPerFrame)
      if code != 0 { try RecordingRepair.repair(descriptor, path: path, limit: frames) }
    }
    // Gives back what was set aside and not needed.
    var status = stat()
    if fstat(descriptor, &status) == 0 { ftruncate(descriptor, status.st_size) }
  }

  /// Syncs and checks the finished file of `frames` frames, and gives it its name, or that with a number where somebody has taken
  /// it meanwhile. Returns the path. A file that does not pass keeps its working name.
  func publish(_ frames: Int64) throws(SoundFileWriteError) -> String {
    if fsync(descriptor) != 0 { throw .failed(path: path, code: errno) }
    if isMended {
      let reader = try? SoundFileReader(path: workingPath, channelLimit: RecordingPlan.channelLimit)
      guard reader?.format.frameCount == frames else {
        throw .notVerified(path: path, reason: "has another length; it is kept as \(workingPath)")
      }
    } else {
      _ = try writer.verify(workingPath)
    }
    let target = try givenName()
    journal.remove()
    path = target
    let folder = open(
      target.lastIndex(of: "/").map { String(target[...$0]) } ?? "./", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
    return target
  }

  /// Converts the file, or has it take its name as it is.
  private func givenName() throws(SoundFileWriteError) -> String {
    var name = path
    if let target {
      do throws(SoundFileWriteError) {
        return try RecordingConversion.convert(
          workingPath, to: path, container: target.container, sampleFormat: target.sampleFormat)
      } catch {
        // The disk is full, say: what has been recorded is there all the same.
        conversionFailure = error
        name += ".wav"
      }
    }
    return try UnfinishedRecording.giveName(name, to: workingPath)
  }
}
