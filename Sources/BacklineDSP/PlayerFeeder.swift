import CBackline
import Synchronization

/// The reader's side of a player: fills the lanes from the source. Used by one thread at a time.
struct PlayerFeeder: ~Copyable {
  /// What control wants to be read.
  struct Request {
    /// Counts every change of what is to be played from where.
    var generation = 0
    var source: (any PlayerSource)?
    /// The position to read from.
    var start: Int64 = 0
    var loop: Range<Int64>?
    /// Read from the position that plays at the moment instead of `start`.
    var isRelink = false
    /// The stops asked for, each of which wants the start of the file.
    var stops = 0

    mutating func jump(to position: Int64) {
      generation += 1
      start = position
      isRelink = false
    }

    mutating func relink() {
      generation += 1
      isRelink = true
    }
  }

  /// The frames read in one piece.
  private static let pieceFrames = 8192

  private let memory: PlayerMemory
  private var streams: [PlayerStream?]
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
      } else if PlayerLane.isOffered(word) && PlayerLane.generation(word) < request.generation
        && lanes[index].revoke(word)
      {
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

  private mutating func serve(_ request: Request) {
    let link = memory.link
    guard let source = request.source else {
      isRewindDue = false
      link.pointee.servedGeneration.store(request.generation, ordering: .releasing)
      return
    }
    if link.pointee.servedGeneration.load(ordering: .relaxed) < request.generation, let index = freeLane() {
      let start = request.isRelink ? link.pointee.position.load(ordering: .relaxed) : request.start
      offer(index, PlayerStream(source: source, start: start, loop: request.loop), request, isRewind: false)
      link.pointee.servedGeneration.store(request.generation, ordering: .releasing)
    }
    if isRewindDue {
      let isOffered = streams.indices.contains { PlayerLane.isOffered(word($0)) && PlayerLane.isRewind(word($0)) }
      if isOffered {
        isRewindDue = false
      } else if let index = freeLane() {
        offer(index, PlayerStream(source: source, start: 0, loop: request.loop), request, isRewind: true)
        isRewindDue = false
      }
    }
  }

  private func freeLane() -> Int? { streams.indices.first { word($0) == 0 } }

  private mutating func offer(_ index: Int, _ stream: consuming PlayerStream, _ request: Request, isRewind: Bool) {
    let lane = lanes + index
    lane.pointee.start = stream.position
    lane.pointee.loopFrom = stream.loop?.lowerBound ?? 0
    lane.pointee.loopTo = stream.loop?.upperBound ?? 0
    lane.pointee.written.store(0, ordering: .relaxed)
    lane.pointee.consumed.store(0, ordering: .relaxed)
    lane.pointee.isComplete.store(false, ordering: .relaxed)
    streams[index] = stream
    lane.pointee.word.store(
      PlayerLane.offer(generation: request.generation, isRewind: isRewind), ordering: .releasing)
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
      isRewindDue = true
    }
  }
}
