import CBackline

/// What one rendering thread spends on tasks. A cache line and more of its own, since threads write theirs all the time.
struct ThreadMeter {
  /// Nanoseconds in the present slice: the thread's while it has tasks, then the host's thread's.
  private(set) var sliceTime: Int64 = 0
  /// The part of the time there is that the thread works, averaged over about a second.
  private var load: Float = 0
  private var taskCount: Int64 = 0
  private var padding: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  )

  init() {}

  @_noLocks
  mutating func add(_ time: Int64) {
    sliceTime &+= time
    backline_store_int(&taskCount, taskCount &+ 1)
  }

  /// Ends a slice that lasts `length` nanoseconds. The host's thread, when all tasks are done.
  @_noLocks
  mutating func endSlice(length: Float) {
    let part = Float(sliceTime) / max(1, length)
    sliceTime = 0
    backline_store_float(&load, load + (part - load) * min(1, length * 1e-9))
  }

  /// What has been measured. Any thread.
  static func read(_ meter: UnsafeMutablePointer<ThreadMeter>) -> (load: Float, tasks: Int) {
    (backline_load_float(&meter.pointee.load), Int(backline_load_int(&meter.pointee.taskCount)))
  }
}
