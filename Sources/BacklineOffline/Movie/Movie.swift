import CMovie
import Glibc

/// A movie that is read, by FFmpeg's libraries. Used by one thread at a time.
final class Movie: @unchecked Sendable {
  // Why unchecked: used by one thread at a time.

  let path: String
  let reader: OpaquePointer

  init(path: String) throws(OfflineError) {
    if access(path, R_OK) != 0 {
      throw OfflineError(.inputMissing, "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    let error = MovieMessage()
    guard let reader = path.withCString({ movie_open($0, error.text) }) else {
      throw OfflineError(.badData, "\(path): \(error.string)")
    }
    self.path = path
    self.reader = reader
  }

  deinit { movie_close(reader) }

  var tracks: [movie_track] { (0..<movie_track_count(reader)).map { movie_track_at(reader, $0) } }

  /// How many tracks are pictures, sound or subtitles.
  var shownTracks: Int { tracks.count { $0.kind != movie_data } }

  /// The tracks with sound, by their places among all.
  var soundTracks: [Int] { tracks.indices.filter { tracks[$0].kind == movie_audio } }
}

/// Room for a sentence of the C side.
struct MovieMessage: ~Copyable {
  let text: UnsafeMutablePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: Int(MOVIE_ERROR_BYTES))
    text.initialize(repeating: 0, count: Int(MOVIE_ERROR_BYTES))
    return text
  }()

  deinit { text.deallocate() }

  var string: String { text.pointee == 0 ? "out of memory" : String(cString: text) }
}
