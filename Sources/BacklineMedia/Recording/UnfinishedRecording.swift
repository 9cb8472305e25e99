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
    public let path: String
    public let frames: Int64
    public let sampleRate: Int
    public let channelCount: Int
  }

  /// The working name for a file; where a name would get too long its end is left out.
  static func workingPath(_ path: String) -> String {
    let (folder, name) = split(path)
    var short = name
    while short.utf8.count + ending.utf8.count > 255 { short.removeLast() }
    return folder + short + ending
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
    try RecordingRepair.repair(descriptor, path: path)
    if fsync(descriptor) != 0 { throw .failed(path: path, code: errno) }
    let reader: SoundFileReader
    do throws(SoundFileError) {
      reader = try SoundFileReader(path: path, channelLimit: RecordingPlan.channelLimit)
    } catch {
      throw .notVerified(path: path, reason: "is no sound file")
    }
    var number = 1
    var target = finalPath
    while backline_rename_new(path, target) != 0 {
      if errno != EEXIST { throw .failed(path: target, code: errno) }
      number += 1
      target = Self.numbered(finalPath, number)
    }
    return Recovered(
      path: target, frames: reader.format.frameCount, sampleRate: reader.format.sampleRate,
      channelCount: reader.format.channelCount)
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
