import CBackline
import Glibc

/// How many threads of this process can run at one time.
public enum ProcessorLimit {
  /// The processors that the process's affinity and the quota of its control groups leave it, at least 1. Reads files: not for
  /// render threads.
  public static var parallelThreads: Int {
    max(1, min(Int(backline_usable_processors()), quota(controlGroups()) ?? Int.max))
  }

  /// The folders of this process's control groups, each with its ancestors.
  private static func controlGroups() -> [String] {
    guard let text = read("/proc/self/cgroup") else { return [] }
    var folders: [String] = []
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      if fields.count != 3 { continue }
      let root: String
      if fields[1].isEmpty {
        root = "/sys/fs/cgroup"
      } else if fields[1].split(separator: ",").contains("cpu") {
        root = "/sys/fs/cgroup/cpu"
      } else {
        continue
      }
      var path = String(fields[2])
      while true {
        folders.append(root + (path == "/" ? "" : path))
        guard let slash = path.lastIndex(of: "/"), path != "/" else { break }
        path = slash == path.startIndex ? "/" : String(path[..<slash])
      }
    }
    return folders
  }

  /// The smallest quota of control groups in whole processors, at least 1; `nil` where none has one.
  static func quota(_ folders: [String]) -> Int? {
    var least: Int?
    for folder in folders {
      var parts = read(folder + "/cpu.max")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
      if parts.isEmpty, let quota = read(folder + "/cpu.cfs_quota_us"), let period = read(folder + "/cpu.cfs_period_us")
      {
        parts = (quota + " " + period).split(whereSeparator: \.isWhitespace).map(String.init)
      }
      guard parts.count == 2, let quota = Double(parts[0]), let period = Double(parts[1]), quota > 0, period > 0 else {
        continue
      }
      least = min(least ?? Int.max, max(1, Int(quota / period)))
    }
    return least
  }

  private static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
