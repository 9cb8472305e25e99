import CBackline

/// The time that a node takes, measured in some slices on the thread that renders it; any thread may read the results.
public struct NodeCost {
  /// Nanoseconds in the slice that is measured now: what a sum takes input by input is added up.
  private var sliceTime: Int64 = 0
  private var meanValue: Float = 0
  /// The mean of the slices in which the node did not sleep: what it takes when it is needed.
  private var soundingValue: Float = 0
  private var largestValue: Float = 0
  private var sliceCount: Int64 = 0

  init() {}

  @_noLocks
  mutating func add(_ time: Int64) { sliceTime &+= time }

  /// Ends the measuring of a slice of `frames` frames, through all of which the node slept or not.
  @_noLocks
  mutating func endSlice(frames: Int, isAsleep: Bool) {
    if frames <= 0 { return }
    let cost = Float(sliceTime) / Float(frames)
    sliceTime = 0
    // The plain mean at first, then one over the last 32 slices or so.
    let weight = 1 / Float(min(sliceCount, 31) &+ 1)
    backline_store_float(&meanValue, meanValue + (cost - meanValue) * weight)
    if !isAsleep {
      let before = soundingValue
      backline_store_float(&soundingValue, before == 0 ? cost : before + (cost - before) / 32)
    }
    if cost > largestValue { backline_store_float(&largestValue, cost) }
    backline_store_int(&sliceCount, sliceCount &+ 1)
  }

  /// What has been measured, in nanoseconds a frame; `nil` before the first measurement. Any thread.
  public static func read(_ node: UnsafeMutablePointer<NodeState>) -> (mean: Float, largest: Float)? {
    if backline_load_int(&node.pointee.cost.sliceCount) == 0 { return nil }
    return (backline_load_float(&node.pointee.cost.meanValue), backline_load_float(&node.pointee.cost.largestValue))
  }

  /// What a node takes in a slice in which it does not sleep, in nanoseconds a frame; `nil` before such a slice has been measured.
  public static func whileSounding(_ node: UnsafeMutablePointer<NodeState>) -> Float? {
    let cost = backline_load_float(&node.pointee.cost.soundingValue)
    return cost > 0 ? cost : nil
  }

  /// What a node is taken to need until it has been measured: about what a filter does.
  public static var guess: Float { 5 }
}
