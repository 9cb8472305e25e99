/// The files of one part of a recording, all of one length.
final class RecordingPart: @unchecked Sendable {
  // Why unchecked: the writing thread's until it is finished, the syncing thread's from then on.

  private(set) var files: [RecordingFile]
  private let number: Int
  let sampleRate: Int
  private(set) var frames: Int64 = 0
  /// Places of note, in frames of this part.
  private(set) var markers: [SoundFileMetadata.Marker] = []

  /// Makes all files, or none.
  init(_ plan: RecordingPlan, number: Int, sampleRate: Int) throws(SoundFileWriteError) {
    self.sampleRate = sampleRate
    self.number = number
    var files: [RecordingFile] = []
    do throws(SoundFileWriteError) {
      for file in try plan.files(path: plan.path, part: number) { files.append(try Self.make(file, plan, sampleRate)) }
    } catch {
      for file in files { file.discard() }
      throw error
    }
    self.files = files
  }

  private static func make(
    _ file: (path: String, channels: Range<Int>, title: String?), _ plan: RecordingPlan, _ sampleRate: Int
  ) throws(SoundFileWriteError) -> RecordingFile {
    let encoding = try plan.encoding(channelCount: file.channels.count, sampleRate: sampleRate)
    return try RecordingFile(
      path: file.path, channels: file.channels, title: file.title, encoding: encoding, target: plan.conversion)
  }

  /// Makes the file of the last track of `plan`, which is new and silent up to here.
  func addLastTrack(of plan: RecordingPlan) throws(SoundFileWriteError) {
    guard let last = try plan.files(path: plan.path, part: number).last else { return }
    let file = try Self.make(last, plan, sampleRate)
    do throws(SoundFileWriteError) {
      try file.begin(after: frames)
    } catch {
      file.discard()
      throw error
    }
    for marker in markers { file.note(marker) }
    files.append(file)
  }

  /// Marks a place, in frames of this part.
  func mark(_ marker: SoundFileMetadata.Marker) {
    if markers.count >= CueChunk.limit { return }
    markers.append(marker)
    for file in files { file.note(marker) }
  }

  /// Bytes a frame, of all files together.
  var bytesPerFrame: Int64 { files.reduce(0) { $0 + $1.bytesPerFrame } }

  /// Frames after which the largest file reaches `bytes`.
  func frames(forBytes bytes: Int64) -> Int64 { max(1, bytes / max(1, files.map(\.bytesPerFrame).max() ?? 1)) }

  /// Sets room aside in all files for `count` frames more; false where there is not enough in all of them.
  func reserve(_ count: Int) -> Bool {
    let ahead = Int64(4 * sampleRate)
    return files.allSatisfy { $0.reserve(frames + Int64(count), ahead: ahead) == 0 }
  }

  var unusedBytes: Int64 { files.reduce(0) { $0 + $1.unusedBytes(frames) } }

  /// Writes `count` frames to all files; `fill` brings those of a file's channels. Nothing counts as written where one fails.
  func write(
    _ count: Int, _ scratch: UnsafeMutablePointer<Float>, fill: (Range<Int>, UnsafeMutablePointer<Float>) -> Void
  ) throws(SoundFileWriteError) {
    for file in files {
      fill(file.channels, scratch)
      try file.write(scratch, frames: count)
    }
    frames += Int64(count)
  }

  func updateHeaders() throws(SoundFileWriteError) {
    for file in files { try file.updateHeader() }
  }

  /// Ends all files at the same frame; the first error where one cannot be ended.
  func finish() -> SoundFileWriteError? {
    var failure: SoundFileWriteError?
    for file in files {
      do throws(SoundFileWriteError) {
        try file.finish(frames, markers: markers)
      } catch {
        failure = failure ?? error
      }
    }
    return failure
  }

  /// Gives all files their names; those that do not pass keep their working names.
  func publish() -> (paths: [String], failure: SoundFileWriteError?) {
    var paths: [String] = []
    var failure: SoundFileWriteError?
    for file in files {
      do throws(SoundFileWriteError) {
        paths.append(try file.publish(frames))
        failure = failure ?? file.conversionFailure
      } catch {
        failure = failure ?? error
      }
    }
    return (paths, failure)
  }
}
