import BacklineRealtime
import CBackline
import Synchronization

/// A stretch of sound read ahead from one position on: the ring between the reader thread and the render thread.
///
/// A player has a few of them, so that the sound of a seek or a restart is there before its frame comes while the old
/// position plays on. Who owns a lane is written in `word`: free lanes belong to the reader, which fills one and offers
/// it; the render thread takes what it wants and frees it again. Only the owner changes anything but the two counters.
/// The sample memory is touched by the reader first, so an unused lane costs nothing.
struct PlayerLane: ~Copyable {
  enum Ownership: Int { case free = 0, offered, taken }

  /// Interleaved stereo frames.
  let samples: UnsafeMutablePointer<Float>
  /// The frames that fit.
  let capacity: Int
  /// 0 while free; else the generation times 8, plus 4 for a rewound start, plus the ownership.
  let word = Atomic<Int>(0)
  /// The frames written so far, by the reader.
  let written = Atomic<Int>(0)
  /// The frames consumed so far, by the render thread.
  let consumed = Atomic<Int>(0)
  /// True when no more will be written.
  let isComplete = Atomic<Bool>(false)
  /// The file position of the first frame written.
  var start: Int64 = 0
  /// The loop that the sound follows; none where `loopTo` is 0.
  var loopFrom: Int64 = 0
  var loopTo: Int64 = 0

  init(capacity: Int) {
    self.capacity = capacity
    samples = .allocate(capacity: capacity * 2)
  }

  deinit { samples.deallocate() }

  /// The value of `word` for an offered lane.
  static func offer(generation: Int, isRewind: Bool) -> Int {
    generation << 3 | (isRewind ? 4 : 0) | Ownership.offered.rawValue
  }

  @inline(__always) @_noLocks
  static func isOffered(_ word: Int) -> Bool { word & 3 == 1 }
  @inline(__always) @_noLocks
  static func isRewind(_ word: Int) -> Bool { word & 4 != 0 }
  @inline(__always) @_noLocks
  static func generation(_ word: Int) -> Int { word >> 3 }

  /// Takes the lane if it is still offered as `offer` says. Render thread.
  @_noLocks
  func take(_ offer: Int) -> Bool {
    word.compareExchange(expected: offer, desired: offer &+ 1, ordering: .acquiringAndReleasing).exchanged
  }

  /// Gives a taken lane back. Render thread.
  @_noLocks
  func release() { word.store(0, ordering: .releasing) }

  /// Takes an offer back; false when the render thread was faster. Reader.
  func revoke(_ offer: Int) -> Bool {
    word.compareExchange(expected: offer, desired: 0, ordering: .acquiringAndReleasing).exchanged
  }

  /// True when the lane holds everything from the start of the file to its end.
  var isWholeFile: Bool {
    @_noLocks get {
      start == 0 && isComplete.load(ordering: .acquiring) && written.load(ordering: .acquiring) <= capacity
    }
  }

  /// The file position of the frame that is `count` frames after the first.
  @_noLocks
  func position(after count: Int) -> Int64 {
    let first = loopTo &- start
    let count = Int64(count)
    if first <= 0 || count < first { return start &+ count }
    return loopFrom &+ (count &- first) % (loopTo &- loopFrom)
  }
}
