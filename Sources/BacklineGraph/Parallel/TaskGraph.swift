import Synchronization

/// Steps that run one after the other on one thread, as soon as the tasks that they hear are done.
public struct RenderTask: BitwiseCopyable, Sendable {
  /// Where its steps lie in the plan's list: `firstStep..<endStep`.
  public var firstStep: Int32
  public var endStep: Int32
  /// The tasks that have to be done before.
  public var dependencyCount: Int32
  /// Where the tasks that wait for this one lie in the list of successors.
  public var firstSuccessor: Int32
  public var endSuccessor: Int32

  public init(
    firstStep: Int32, endStep: Int32, dependencyCount: Int32, firstSuccessor: Int32, endSuccessor: Int32
  ) {
    self.firstStep = firstStep
    self.endStep = endStep
    self.dependencyCount = dependencyCount
    self.firstSuccessor = firstSuccessor
    self.endSuccessor = endSuccessor
  }
}

/// What a plan that several threads may run has beside its steps.
///
/// The plan's steps lie in the order of the tasks then, each task after those that it waits for, so that one thread alone runs
/// them as they lie. Steps of the host's side stand before the first task (inputs) and behind the last (outputs, recording,
/// loops): the host's thread runs those by itself.
public struct TaskGraph {
  let tasks: UnsafeMutablePointer<RenderTask>
  let count: Int
  let successors: UnsafeMutablePointer<Int32>
  /// The tasks that wait for none, the one with the most work behind it last.
  let roots: UnsafeMutablePointer<Int32>
  let rootCount: Int
  /// The steps before the first task, and those up to the end of the last.
  let firstStep: Int
  let endStep: Int
  /// Nanoseconds that one thread is expected to take for all tasks of a slice.
  let expectedTime: Int64
  /// The tasks that each one still waits for in the slice that is rendered.
  let waiting: UnsafeMutablePointer<Atomic<Int32>>

  /// Lays compiled tasks out in memory; `roots` in the order in which they are wanted, the most urgent last.
  public init(
    tasks: UnsafeBufferPointer<RenderTask>, successors: UnsafeBufferPointer<Int32>,
    roots: UnsafeBufferPointer<Int32>, firstStep: Int, endStep: Int, expectedTime: Int64
  ) {
    self.tasks = RenderPlan.copy(tasks)
    count = tasks.count
    self.successors = RenderPlan.copy(successors)
    self.roots = RenderPlan.copy(roots)
    rootCount = roots.count
    self.firstStep = firstStep
    self.endStep = endStep
    self.expectedTime = expectedTime
    waiting = .allocate(capacity: max(1, tasks.count))
    for index in 0..<tasks.count { (waiting + index).initialize(to: Atomic(0)) }
  }

  func deallocate() {
    for index in 0..<count { (waiting + index).deinitialize(count: 1) }
    waiting.deallocate()
    tasks.deallocate()
    successors.deallocate()
    roots.deallocate()
  }
}
