import BacklineRealtime
import CBackline
import Synchronization

/// A transport command on its way to the render thread.
struct PlayerCommand: BitwiseCopyable, Sendable {
  enum Kind: UInt8 {
    case play, pause, stop
    /// Goes on at `position` with the sound of `generation`.
    case seek
    /// Goes on at the same position with the sound of `generation`, which follows another loop.
    case relink
  }

  var kind: Kind
  /// False: at the next block.
  var isScheduled: Bool
  /// The absolute frame to act at.
  var frame: Int64
  /// The generation of the file that the command is meant for.
  var file = 0
  /// Counts all commands of the player from 1 on.
  var number = 0
  var generation = 0
  var position: Int64 = 0

  /// True for the commands that name a generation.
  var isJump: Bool {
    @_noLocks get {
      switch kind {
      case .seek, .relink: true
      default: false
      }
    }
  }
}

/// The block with which the render thread took a command, or went over to a file.
struct PlayerTaken: BitwiseCopyable, Sendable {
  /// The command's number; that of a file is its generation, negated.
  let number: Int
  /// The first frame of the block.
  let frame: Int64

  @_noLocks
  init(_ number: Int, at frame: Int64) {
    self.number = number
    self.frame = frame
  }
}

/// How loud one lane is being played.
struct PlayerVoice {
  /// The lane fades out and is given back then.
  var isLeaving = false
  var gain = Ramp(0)
}

/// All memory that a player's render thread, reader and control share. Lives as long as any of them.
struct PlayerLink: ~Copyable {
  /// The position that plays, one prepared, one rewound, and one to fade out.
  static var laneCount: Int { @_noLocks get { 4 } }
  /// How far a lane that is only offered is read ahead: more than the longest block and its ramps.
  static var offeredFrames: Int { @_noLocks get { 32_768 } }
  /// The commands that may wait for their frames.
  static var waitingLimit: Int { @_noLocks get { 64 } }

  let lanes: UnsafeMutablePointer<PlayerLane>
  /// One for each lane; render thread.
  let voices: UnsafeMutablePointer<PlayerVoice>
  /// The commands that wait for their frames, in order; render thread.
  let waiting: UnsafeMutablePointer<PlayerCommand>
  let commands = RingQueue<PlayerCommand>(capacity: 2 * PlayerLink.waitingLimit)

  /// The generation of the newest file times 2, plus 1 unless it means having none. Written by control.
  let newestFile = Atomic<Int>(0)

  // Written by the render thread.
  let position = Atomic<Int64>(0)
  let isPlaying = Atomic<Bool>(false)
  let hasEnded = Atomic<Bool>(false)
  let underruns = Atomic<Int>(0)
  let lateCommands = Atomic<Int>(0)
  /// The commands done or dropped.
  let retiredCommands = Atomic<Int>(0)
  /// The newest generation that has been jumped to.
  let executedGeneration = Atomic<Int>(0)

  /// True while somebody wants to hear from `taken`. Written by control.
  let isObserved = Atomic<Bool>(false)
  /// What has been taken, and when. Written by the render thread.
  let taken = RingQueue<PlayerTaken>(capacity: 2 * PlayerLink.waitingLimit)
  /// Counts what a disk's speed has had a part in: sound that was due and not there, and what `taken` had no room for.
  let chances = Atomic<Int>(0)

  /// Set by the render thread, cleared by the reader: the start of the file is wanted again.
  let isRewindWanted = Atomic<Bool>(false)
  /// The last of control's changes for which everything has been offered. Written by the reader.
  let servedSerial = Atomic<Int>(0)
  /// Set when the unit has been freed: nothing is played any more.
  let isAbandoned = Atomic<Bool>(false)

  init(capacity: Int) {
    lanes = .allocate(capacity: Self.laneCount)
    voices = .allocate(capacity: Self.laneCount)
    waiting = .allocate(capacity: Self.waitingLimit)
    // Written once, so that no page of it is new to the render thread.
    waiting.initialize(
      repeating: PlayerCommand(kind: .play, isScheduled: false, frame: 0), count: Self.waitingLimit)
    for index in 0..<Self.laneCount {
      (lanes + index).initialize(to: PlayerLane(capacity: capacity))
      (voices + index).initialize(to: PlayerVoice())
    }
  }

  deinit {
    lanes.deinitialize(count: Self.laneCount)
    lanes.deallocate()
    voices.deallocate()
    waiting.deallocate()
  }
}

/// The owner of a `PlayerLink`: held by the unit and by its control, so that the memory outlives both.
final class PlayerMemory: @unchecked Sendable {
  let link: UnsafeMutablePointer<PlayerLink>

  /// Two seconds of read-ahead, and not less than 65 536 frames.
  init(sampleRate: Double) {
    link = .allocate(capacity: 1)
    link.initialize(to: PlayerLink(capacity: max(65_536, Int(sampleRate * 2))))
  }

  deinit {
    link.deinitialize(count: 1)
    link.deallocate()
  }
}
