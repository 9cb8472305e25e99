import Backline
import Foundation

extension FileManager {
  /// Puts a file in the place of another, in one step.
  ///
  /// Foundation's own method of this name, seen with Swift 6.3 on Linux, takes the old file away and then fails; this one is called
  /// where neither a backup nor options are given.
  public func replaceItemAt(_ originalItemURL: URL, withItemAt newItemURL: URL) throws -> URL? {
    if rename(newItemURL.path, originalItemURL.path) == 0 { return originalItemURL }
    throw AudioError(
      .fileFailed, "\(originalItemURL.path) cannot be replaced: \(String(cString: strerror(errno)))")
  }
}
