import CBackline
import Synchronization

/// The reader's side of a player: fills the lanes from the source. Used by one thread at a time.
struct PlayerFeeder: ~Copyable {
  /// What control wants to be read.
  struct Request {
    /// A position to read from.
    struct Place {
      var generation = 0
      var start: Int64 = 0
      /// Read from the position that plays at the moment instead of `start`.
      var isRelink = false
    }

    /// Counts the changes.
    var serial = 0
    var source: (any PlayerSource)?
    var loop: Range<Int64>?
    /// The place that plays or is at hand.
    var current = Place()
    /// The place of a seek that waits for its frame.
    var next: Place?
    /// The generation of the start of the file, a new one for each file and loop.
    var rewindGeneration = 0
    /// The stops asked for, each of which wants the start of the file.
    var stops = 0
  }

  /// The frames read in one piece.
  private static let pieceFrames = 8192

  private let memory: PlayerMemory
  private var streams: [PlayerStream?]
  private var servedGenerations: (current: Int, next: Int) = (0, 0)
  private var stops = 0
  /// The start of the file should be offered.
  private var isRewindDue = false
  private var failure: (generation: Int, failure: PlayerSourceFailure)?

  init(_ memory: PlayerMemory) {
    self.memory = memory
    streams = [PlayerStream?](repeating: nil, count: PlayerLink.laneCount)
  }

  private var lanes: UnsafeMutablePointer<PlayerLane> { memory.link.pointee.lanes }

  private func word(_ index: Int) -> Int { lanes[index].word.load(ordering: .acquiring) }

  /// Why the source could not be read on, once.
  mutating func takeFailure() -> (generation: Int, failure: PlayerSourceFailure)? {
    defer { failure = nil }
    return failure
  }

  /// Offers what has been asked for and reads one piece; false when nothing was left to do.
  mutating func advance(_ request: Request) -> Bool {
    tidy(request)
    serve(request)
    guard let index = nextLane() else { return false }
    fill(index, request)
    return true
  }

  // MARK: Offers

  /// Takes back what nobody will take any more, and lets go of sources that are no longer played.
  private mutating func tidy(_ request: Request) {
    for index in streams.indices {
      let word = word(index)
      if word == 0 {
        streams[index] = nil
      } else if PlayerLane.isOffered(word) && !isWanted(word, request) && lanes[index].revoke(word) {
        if PlayerLane.isRewind(word) { isRewindDue = true }
        streams[index] = nil
      } else if let source = streams[index]?.source, source !== request.source {
        streams[index]?.source = nil
      }
    }
    if request.stops != stops || memory.link.pointee.isRewindWanted.exchange(false, ordering: .acquiringAndReleasing) {
      stops = request.stops
      isRewindDue = true
    }
  }

  private func isWanted(_ word: Int, _ request: Request) -> Bool {
    let generation = PlayerLane.generation(word)
    if PlayerLane.isRewind(word) { return generation == request.rewindGeneration }
    return generation == request.current.generation || generation == request.next?.generation
  }

  private mutating func serve(_ request: Request) {
    guard request.source != nil else {
      isRewindDue = false
      memory.link.pointee.servedSerial.store(request.serial, ordering: .releasing)
      return
    }
    if request.current.generation == servedGenerations.next { servedGenerations.current = servedGenerations.next }
    var isServed = true
    if request.current.generation != servedGenerations.current {
      if offer(request.current, request) {
        servedGenerations.current = request.current.generation
      } else {
        isServed = false
      }
    }
    if let next = request.next, next.generation != servedGenerations.next {
      if offer(next, request) { servedGenerations.next = next.generation } else { isServed = false }
    }
    if isRewindDue {
      let isOffered = streams.indices.contains { PlayerLane.isOffered(word($0)) && PlayerLane.isRewind(word($0)) }
      let start = Request.Place(generation: request.rewindGeneration)
      if isOffered || offer(start, request, isRewind: true) { isRewindDue = false } else { isServed = false }
    }
    if isServed { memory.link.pointee.servedSerial.store(request.serial, ordering: .releasing) }
  }

  /// Offers a place in a lane; false where none is free.
  private mutating func offer(_ place: Request.Place, _ request: Request, isRewind: Bool = false) -> Bool {
    guard let source = request.source, let index = streams.indices.first(where: { word($0) == 0 }) else { return false }
    let start = place.isRelink ? memory.link.pointee.position.load(ordering: .relaxed) : place.start
    let lane = lanes + index
    lane.pointee.start = start
    lane.pointee.loopFrom = request.loop?.lowerBound ?? 0
    lane.pointee.loopTo = request.loop?.upperBound ?? 0
    lane.pointee.written.store(0, ordering: .relaxed)
    lane.pointee.consumed.store(0, ordering: .relaxed)
    lane.pointee.isComplete.store(false, ordering: .relaxed)
    streams[index] = PlayerStream(source: source, start: start, loop: request.loop)
    lane.pointee.word.store(
      PlayerLane.offer(generation: place.generation, isRewind: isRewind), ordering: .releasing)
    return true
  }

  // MARK: Reading

  /// The lane that needs frames most: first what plays, by what is left of it, then what is prepared.
  private func nextLane() -> Int? {
    var best: (index: Int, left: Int)?
    for index in streams.indices where streams[index]?.source != nil {
      let word = word(index)
      guard word != 0, let left = Self.framesLeft(lanes + index, word) else { continue }
      if left < best?.left ?? .max { best = (index, left) }
    }
    return best?.index
  }

  /// How far a lane that has room for a piece is ahead; `nil` where nothing is to be read. What is only prepared comes
  /// after what plays, unless it is still empty.
  private static func framesLeft(_ lane: UnsafeMutablePointer<PlayerLane>, _ word: Int) -> Int? {
    if lane.pointee.isComplete.load(ordering: .relaxed) { return nil }
    let left = lane.pointee.written.load(ordering: .relaxed) - lane.pointee.consumed.load(ordering: .acquiring)
    if PlayerLane.isOffered(word) {
      if left == 0 { return PlayerLane.isRewind(word) ? pieceFrames : 0 }
      return left < PlayerLink.offeredFrames ? lane.pointee.capacity + left : nil
    }
    return left <= lane.pointee.capacity - pieceFrames ? left : nil
  }

  /// See `PlayerControl.urgency`.
  static func urgency(_ memory: PlayerMemory, isServed: Bool) -> Int {
    if !isServed || memory.link.pointee.isRewindWanted.load(ordering: .relaxed) { return 0 }
    var urgency = Int.max
    for index in 0..<PlayerLink.laneCount {
      let lane = memory.link.pointee.lanes + index
      let word = lane.pointee.word.load(ordering: .acquiring)
      if word != 0, let left = framesLeft(lane, word) { urgency = min(urgency, left) }
    }
    return urgency
  }

  private mutating func fill(_ index: Int, _ request: Request) {
    let lane = lanes + index
    let written = lane.pointee.written.load(ordering: .relaxed)
    let from = written % lane.pointee.capacity
    let count = min(Self.pieceFrames, lane.pointee.capacity - from)
    let generation = PlayerLane.generation(word(index))
    var read = 0
    var isComplete = false
    do throws(PlayerSourceFailure) {
      read = try streams[index]?.read(into: lane.pointee.samples + 2 * from, count: count) ?? 0
      isComplete = streams[index]?.isAtEnd ?? true
    } catch {
      failure = (generation, error)
      isComplete = true
    }
    lane.pointee.written.store(written + read, ordering: .releasing)
    if isComplete {
      lane.pointee.isComplete.store(true, ordering: .releasing)
      // A file that fits into its lane is played again from there.
      if !lane.pointee.isWholeFile { isRewindDue = true }
    }
  }
}
