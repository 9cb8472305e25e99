/// The kinds of movie that can be read and written.
public enum MovieContainer: String, CaseIterable, Sendable {
  case mkv, mp4, mov

  /// The kind that a file's name stands for by its ending; `nil` where it has none of these.
  public init?(ofFileNamed path: String) {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
    switch path[path.index(after: dot)...].lowercased() {
    case "mkv", "mka", "webm": self = .mkv
    case "mp4", "m4v", "m4a": self = .mp4
    case "mov", "qt": self = .mov
    default: return nil
    }
  }

  /// FFmpeg's name of it.
  var formatName: String { self == .mkv ? "matroska" : rawValue }
}
