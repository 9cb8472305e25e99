import CMovie

/// The sound of one track of a movie, decoded as it comes. What is missing between packets is silence, so that everything keeps
/// its time.
public final class MovieSource: OfflineSource, @unchecked Sendable {
  // Why unchecked: the movie is used by the thread that reads only.

  public let name: String
  public let sampleRate: Int
  public let channelCount: Int
  public let frameCount: Int64? = nil
  /// The track's place among all tracks of the movie.
  public let track: Int
  /// The first frame's place in the movie, in frames of the track.
  let firstFrame: Int64
  private let movie: Movie

  /// `number` counts the tracks with sound from 1.
  public init(path: String, soundTrack number: Int = 1) throws(OfflineError) {
    name = path
    movie = try Movie(path: path)
    let sounds = movie.soundTracks
    guard sounds.indices.contains(number - 1) else {
      throw OfflineError(
        .badData, sounds.isEmpty ? "\(path) has no sound to render" : "\(path) has \(sounds.count) tracks with sound")
    }
    track = sounds[number - 1]
    let description = movie.tracks[track]
    let error = MovieMessage()
    guard movie_select(movie.reader, Int32(track), error.text) else {
      throw OfflineError(.badData, "\(path): \(error.string)")
    }
    guard (8_000...768_000).contains(description.sample_rate), (1...32).contains(description.channels) else {
      throw OfflineError(
        .badData,
        "\(path) has \(description.channels) channels at \(description.sample_rate) Hz: graphs take 1 to 32 at"
          + " 8000 to 768000 Hz")
    }
    sampleRate = Int(description.sample_rate)
    channelCount = Int(description.channels)
    // Decodes the first packet, to know where it belongs.
    var nothing: Float = 0
    if movie_read(movie.reader, &nothing, 0, error.text) < 0 {
      throw OfflineError(.badData, "\(path): \(error.string)")
    }
    firstFrame = movie_first_frame(movie.reader)
  }

  public func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    let error = MovieMessage()
    let read = movie_read(movie.reader, samples, Int64(count), error.text)
    if read < 0 { throw OfflineError(.badData, "\(name): \(error.string)") }
    return read == 0 ? .end : .frames(Int(read))
  }

  /// How many tracks of a movie have sound, and how many have not.
  public static func trackCounts(path: String) throws(OfflineError) -> (sounds: Int, others: Int) {
    let movie = try Movie(path: path)
    let sounds = movie.soundTracks.count
    return (sounds, movie.tracks.count - sounds)
  }
}
