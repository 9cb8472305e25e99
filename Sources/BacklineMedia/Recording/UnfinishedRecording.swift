import CBackline
import Glibc

/// A recording under its working name: one that is being written, or that a kill or a power cut has left.
///
/// The working name is the final one with `.recording` behind it. While a program writes to it, it holds a lock.
public struct UnfinishedRecording: Sendable, Equatable {
  static let ending = ".recording"

  /// Where it is.
  public let path: String
  /// The name that it was meant to get.
  public var finalPath: String { String(path.dropLast(Self.ending.count)) }

  /// What recovering has brought back.
  public struct Recovered: Sendable, Equatable {
    public internal(set) var path: String
    /// Of the sound; of a movie its first track with sound, all 0 where there is none, as in what was done while a recording ran.
    public let frames: Int64
    public let sampleRate: Int
    public let channelCount: Int
    /// How long it is.
    public let seconds: Double
  }

  /// The working name for a file; where a name would get too long its end is left out.
  static func workingPath(_ path: String) -> String {
    let (folder, name) = split(path)
    var short = name
    while short.utf8.count + ending.utf8.count > 255 { short.removeLast() }
    return folder + short + ending
  }

  /// Makes the file of a working name, and locks it; `path` is the name in errors.
  static func create(_ workingPath: String, for path: String) throws(SoundFileWriteError) -> Int32 {
    let descriptor = open(workingPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    if descriptor >= 0 {
      flock(descriptor, LOCK_EX | LOCK_NB)
      return descriptor
    }
    let code = errno
    if code == EEXIST {
      throw .cannotCreate(
        path: path,
        reason: "\(workingPath) is there, a recording that runs or was not finished: 'backline recover' brings it back")
    }
    if code == ENOSPC || code == EDQUOT { throw .failed(path: path, code: code) }
    throw .cannotCreate(path: path, reason: String(cString: strerror(code)))
  }

  /// The recordings in a folder, or the one that `path` names, that nobody writes to any more.
  public static func find(_ path: String) -> [UnfinishedRecording] {
    if path.hasSuffix(ending) { return isLeft(path) ? [UnfinishedRecording(path: path)] : [] }
    guard let directory = opendir(path) else {
      let working = workingPath(path)
      return isLeft(working) ? [UnfinishedRecording(path: working)] : []
    }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      let file = path.hasSuffix("/") ? path + name : path + "/" + name
      if name.hasSuffix(ending) && isLeft(file) { found.append(file) }
    }
    return found.sorted().map(UnfinishedRecording.init)
  }

  private static func isLeft(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && flock(descriptor, LOCK_SH | LOCK_NB) == 0
  }

  /// Mends the header, checks the file, and gives it its final name, or that with a number where it is taken.
  public func recover() throws(SoundFileWriteError) -> Recovered {
    let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    if descriptor < 0 { throw .failed(path: path, code: errno) }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      throw .notVerified(path: path, reason: "is still being written to: end that recording first")
    }
    if finalPath.hasSuffix(EventJournal.ending) {
      try EventJournal.repair(descriptor, path: path)
      if fsync(descriptor) != 0 { throw .failed(path: path, code: errno) }
      let target = try Self.giveName(finalPath, to: path)
      return Recovered(path: target, frames: 0, sampleRate: 0, channelCount: 0, seconds: 0)
    }
    let isMovie = MovieRepair.isMovie(descriptor)
    if isMovie {
      try MovieRepair.repair(descriptor, path: path)
    } else {
      try RecordingRepair.repair(descriptor, path: path)
    }
    var recovered = isMovie ? try MovieRepair.describe(path) : try describe()
    let markers = isMovie ? [] : MarkerJournal.read(path, frames: recovered.frames)
    if !markers.isEmpty { CueChunk.restore(markers, to: descriptor) }
    if fsync(descriptor) != 0 { throw .failed(path: path, code: errno) }
    if !isMovie, let container = SoundContainer(ofFileNamed: finalPath), RecordingPlan.containers.contains(container),
      !RecordingPlan.plainContainers.contains(container)
    {
      recovered.path = try RecordingConversion.convert(path, to: finalPath, container: container, sampleFormat: nil)
      return recovered
    }
    recovered.path = try Self.giveName(finalPath, to: path)
    if !markers.isEmpty { MarkerJournal.remove(path) }
    return recovered
  }

  /// Gives a file its name, or that with a number where it is taken; returns the path.
  static func giveName(_ name: String, to workingPath: String) throws(SoundFileWriteError) -> String {
    var number = 1
    var target = name
    while backline_rename_new(workingPath, target) != 0 {
      if errno != EEXIST { throw .failed(path: target, code: errno) }
      number += 1
      target = numbered(name, number)
    }
    return target
  }

  private func describe() throws(SoundFileWriteError) -> Recovered {
    do throws(SoundFileError) {
      let format = try SoundFileReader(path: path, channelLimit: RecordingPlan.channelLimit).format
      return Recovered(
        path: path, frames: format.frameCount, sampleRate: format.sampleRate, channelCount: format.channelCount,
        seconds: Double(format.frameCount) / Double(max(1, format.sampleRate)))
    } catch {
      throw .notVerified(path: path, reason: "is no sound file")
    }
  }

  /// `take.wav` with a number: `take-2.wav`.
  static func numbered(_ path: String, _ number: Int) -> String {
    let (folder, name) = split(path)
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return folder + name + "-\(number)" }
    return folder + name[..<dot] + "-\(number)" + name[dot...]
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[...slash]), String(path[path.index(after: slash)...]))
  }
}
