/// What a tap has heard: a block of sound with its place in time.
public struct TapBlock {
  /// The sound; just as long as was asked for.
  public let buffer: PCMBuffer
  /// The frame of the first sample on the engine's timeline.
  public let time: AudioTime
  /// Counts the blocks of the tap, from 0.
  public let sequence: Int
  /// The frames right before this block that were left out, since the receiver was too slow.
  public let droppedFrames: Int
  /// The engine's epoch: another one than before means that the rate or the period has changed in between.
  public let epoch: Int
}
