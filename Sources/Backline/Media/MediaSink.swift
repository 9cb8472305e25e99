/// What a writer's samples go into: a movie or a sound file, under a temporary name until it is whole. The writing thread's.
protocol MediaSink: AnyObject {
  /// Source times count from here.
  func startSession(at time: MediaTime) throws(MediaError)
  /// Nothing that begins at `time` or later belongs to the file.
  func endSession(at time: MediaTime) throws(MediaError)
  func append(_ sample: MediaSample, to index: Int) throws(MediaError)
  func finish(_ index: Int) throws(MediaError)
  /// Writes the rest, checks the file, and gives it its name.
  func publish() throws(MediaError)
  /// Takes the unfinished file away.
  func discard()
  /// The tracks that others wait for.
  var waitingTracks: [Int] { get }
}

/// The part of the source's time that a file is made of.
struct MediaSession {
  let path: String
  private(set) var origin: MediaTime?
  private(set) var end: MediaTime?

  init(path: String) { self.path = path }

  mutating func start(at time: MediaTime) throws(MediaError) {
    if origin != nil { throw MediaError(.wrongState, "\(path): a session has begun already, and a file has one") }
    origin = time
  }

  mutating func end(at time: MediaTime) throws(MediaError) {
    guard let origin, end == nil, time >= origin else {
      throw MediaError(.wrongState, "\(path): there is no session that could end at \(time)")
    }
    end = time
  }

  /// Refuses a sample no part of which is in the session; returns the session's start.
  func check(_ sample: MediaSample) throws(MediaError) -> MediaTime {
    guard let origin else {
      throw MediaError(.wrongState, "\(path): no session has begun: call startSession(at:) before the first sample")
    }
    let isBefore =
      sample.duration > .zero
      ? sample.presentationTime + sample.duration <= origin : sample.presentationTime < origin
    if isBefore {
      throw MediaError(.outsideSession, "\(path): a sample at \(sample.presentationTime) ends before the session")
    }
    if let end, sample.presentationTime >= end {
      throw MediaError(.outsideSession, "\(path): a sample at \(sample.presentationTime) begins after the session")
    }
    return origin
  }
}
