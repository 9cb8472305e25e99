import BacklineRealtime
import CBackline
import Synchronization

/// The threads that render a slice together: the host's thread and workers that wait for it to have more work than it can do alone.
///
/// Who runs a task when all that it hears is done takes nothing from what comes out: tasks share no state, and sums are tasks
/// that wait for each other, so that they are always made in the same order. The host's thread never waits for a worker to come:
/// what none has taken it does itself. It waits only for tasks that a worker has in hand.
///
/// In memory that outlives the plans and, where a worker does not come back, the engine.
public struct RenderCrew: ~Copyable {
  /// What a worker needs to know of the slice; written before a task can be seen, and true until the last one is done.
  struct Slice: BitwiseCopyable {
    var tasks: UnsafeMutablePointer<TaskGraph>?
    var plan: UnsafeMutablePointer<RenderPlan>?
    var frame: Int64 = 0
    var count = 0
    var isMetered = false
  }

  /// Tasks that a plan may have.
  public static var mostTasks: Int { ReadyStack.capacity }

  /// Workers beside the host's thread that there can be.
  public let workerCount: Int
  /// True on hosts without deadlines: a thread that has nothing to do gives its processor away.
  private let yields: Bool
  /// Nanoseconds a frame.
  private let frameTime: Float
  /// How long a worker looks for more work before it parks, in nanoseconds.
  private let spinTime: Int64
  private let ready = ReadyStack()
  private let slice: UnsafeMutablePointer<Slice>
  /// Tasks of the slice that are not done.
  private let left = Atomic<Int32>(0)
  private let hasFailed = Atomic<Bool>(false)
  /// What workers park on.
  private let word: UnsafeMutablePointer<UInt32>
  private let parked = Atomic<Int32>(0)
  private let serving = Atomic<Int32>(0)
  private let isEnding = Atomic<Bool>(false)
  private let isShared = Atomic<Bool>(false)
  private let stalls = Atomic<Int>(0)
  private let meters: UnsafeMutablePointer<ThreadMeter>
  /// The host's thread's.
  private let governor: UnsafeMutablePointer<ParallelGovernor>

  /// A crew of up to `workerCount` workers for `sampleRate` frames a second. With `yields`, for a host without deadlines.
  public init(workerCount: Int, policy: ParallelPolicy, sampleRate: Double, yields: Bool) {
    self.workerCount = workerCount
    self.yields = yields
    frameTime = Float(1e9 / sampleRate)
    spinTime = yields ? 100_000 : 20_000
    slice = .allocate(capacity: 1)
    slice.initialize(to: Slice())
    // A cache line of its own.
    word = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64).bindMemory(to: UInt32.self, capacity: 1)
    word.initialize(to: 0)
    meters = UnsafeMutableRawPointer.allocate(
      byteCount: (workerCount + 1) * MemoryLayout<ThreadMeter>.stride, alignment: 128
    ).bindMemory(to: ThreadMeter.self, capacity: workerCount + 1)
    meters.initialize(repeating: ThreadMeter(), count: workerCount + 1)
    governor = .allocate(capacity: 1)
    governor.initialize(to: ParallelGovernor(policy))
  }

  deinit {
    slice.deallocate()
    word.deallocate()
    meters.deallocate()
    governor.deallocate()
  }
}

/// The host's thread.
extension RenderCrew {
  /// True when the coming slice of a plan is to be shared. One that was made for fewer threads is not.
  @_noLocks
  func wants(_ plan: UnsafeMutablePointer<RenderPlan>) -> Bool {
    plan.pointee.threadCount > workerCount && serving.load(ordering: .relaxed) > 0 && governor.pointee.decide()
  }

  /// Takes the time of a slice that the host's thread rendered alone.
  @_noLocks
  func noteSerial(_ time: Int64, frames: Int) {
    isShared.store(false, ordering: .relaxed)
    governor.pointee.noteSerial()
    meters.pointee.add(time)
    endSlice(frames)
  }

  /// True when a node has given samples that are not finite since this was asked last.
  @_noLocks
  func takeFailure() -> Bool {
    hasFailed.load(ordering: .relaxed) && hasFailed.exchange(false, ordering: .relaxed)
  }

  /// Renders the tasks of a slice, with those who come to help; returns when all are done.
  @_noLocks
  func run(_ tasks: UnsafeMutablePointer<TaskGraph>, _ runner: StepRunner) {
    let begin = backline_now()
    isShared.store(true, ordering: .relaxed)
    for index in 0..<tasks.pointee.count {
      tasks.pointee.waiting[index].store(tasks.pointee.tasks[index].dependencyCount, ordering: .relaxed)
    }
    slice.initialize(
      to: Slice(
        tasks: tasks, plan: runner.plan, frame: runner.frame, count: runner.count, isMetered: runner.isMetered))
    left.store(Int32(truncatingIfNeeded: tasks.pointee.count), ordering: .relaxed)
    let others = tasks.pointee.rootCount &- 1
    for index in 0..<others { ready.push(tasks.pointee.roots[index]) }
    wake(others)
    runChain(tasks.pointee.roots[others], thread: 0)
    finish(patience: max(200_000, tasks.pointee.expectedTime))
    var work: Int64 = 0
    for thread in 0...workerCount { work &+= (meters + thread).pointee.sliceTime }
    governor.pointee.noteShared(backline_now() &- begin, work: work, frames: runner.count)
    endSlice(runner.count)
  }

  /// Takes what nobody has taken, until all is done. A wait that is longer than one thread would need for everything means that
  /// a worker was kept from its processor, and is counted.
  @_noLocks
  private func finish(patience: Int64) {
    var spins = 0
    var begin: Int64 = 0
    var isStalled = false
    while left.load(ordering: .acquiring) > 0 {
      let task = ready.pop()
      if task >= 0 {
        runChain(task, thread: 0)
        begin = 0
        continue
      }
      backline_relax()
      spins &+= 1
      if spins & 31 != 0 { continue }
      let now = backline_now()
      if begin == 0 { begin = now }
      if now &- begin > patience && !isStalled {
        isStalled = true
        stalls.store(stalls.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      }
      if yields && now &- begin > spinTime { backline_yield() }
    }
  }

  @_noLocks
  private func endSlice(_ frames: Int) {
    for thread in 0...workerCount { (meters + thread).pointee.endSlice(length: Float(frames) * frameTime) }
  }
}

/// Every thread of the crew.
extension RenderCrew {
  /// Runs a task, and then one that it was the last to be waited for by, as long as there is one.
  @_noLocks
  private func runChain(_ first: Int32, thread: Int) {
    let slice = slice.pointee
    guard let tasks = slice.tasks, let plan = slice.plan else { return }
    let runner = StepRunner(plan, thread: thread, frame: slice.frame, count: slice.count, isMetered: slice.isMetered)
    var index = first
    var begin = backline_now()
    while index >= 0 {
      let task = tasks.pointee.tasks[Int(index)]
      if runner.run(Int(task.firstStep), Int(task.endStep)) { hasFailed.store(true, ordering: .relaxed) }
      let now = backline_now()
      (meters + thread).pointee.add(now &- begin)
      begin = now
      index = release(task, tasks)
    }
  }

  /// Says that a task is done. Of the tasks that only waited for it, returns one, and lets the others be taken.
  @_noLocks
  private func release(_ task: RenderTask, _ tasks: UnsafeMutablePointer<TaskGraph>) -> Int32 {
    var next: Int32 = -1
    var pushed = 0
    for index in Int(task.firstSuccessor)..<Int(task.endSuccessor) {
      let successor = tasks.pointee.successors[index]
      let waiting = tasks.pointee.waiting[Int(successor)].wrappingSubtract(1, ordering: .acquiringAndReleasing)
      if waiting.newValue != 0 { continue }
      if next < 0 {
        next = successor
      } else {
        ready.push(successor)
        pushed &+= 1
      }
    }
    wake(pushed)
    // The last thing: when nothing is left, the plan may be gone.
    left.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    return next
  }

  /// Wakes as many workers as there is work for, where any are parked.
  @_noLocks
  private func wake(_ count: Int) {
    if count <= 0 { return }
    let parked = parked.load(ordering: .sequentiallyConsistent)
    if parked > 0 { backline_unpark(word, min(Int32(truncatingIfNeeded: count), parked)) }
  }
}

/// The workers.
extension RenderCrew {
  /// Takes part until `end()`. `thread` is 1 to `workerCount`, another one for each worker.
  public func serve(_ thread: Int) {
    _ = backline_flush_denormals()
    serving.wrappingAdd(1, ordering: .relaxed)
    while !isEnding.load(ordering: .acquiring) {
      backline_realtime_enter()
      let hasMore = work(thread)
      backline_realtime_exit()
      if !hasMore { park() }
    }
    serving.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Runs what is ready, and looks for more for a moment; false when there is none.
  @_noLocks
  func work(_ thread: Int) -> Bool {
    while true {
      let task = ready.pop()
      if task < 0 { break }
      runChain(task, thread: thread)
    }
    let begin = backline_now()
    while true {
      for _ in 0..<32 {
        if !ready.isEmpty || isEnding.load(ordering: .relaxed) { return true }
        backline_relax()
      }
      if backline_now() &- begin > spinTime { return false }
      if yields { backline_yield() }
    }
  }

  private func park() {
    parked.wrappingAdd(1, ordering: .sequentiallyConsistent)
    let ticket = backline_park_ticket(word)
    // Looked at once more: what was pushed before this thread counted as parked woke nobody.
    if ready.isEmpty && !isEnding.load(ordering: .sequentiallyConsistent) { backline_park(word, ticket) }
    parked.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  /// Has the workers leave as soon as they have nothing in hand. Rendering may go on, alone. Any thread.
  public func end() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    backline_unpark(word, Int32.max)
  }
}

/// What any thread may ask.
extension RenderCrew {
  /// Workers that take part.
  public var servingCount: Int { Int(serving.load(ordering: .relaxed)) }
  /// True when the last slice was shared.
  public var isSharing: Bool { isShared.load(ordering: .relaxed) }
  /// Slices in which the host's thread had to wait for a worker that was kept from its processor.
  public var stallCount: Int { stalls.load(ordering: .relaxed) }
  /// What a thread works, the host's being 0: the part of the time there is, and the tasks so far.
  public func meter(of thread: Int) -> (load: Float, tasks: Int) { ThreadMeter.read(meters + thread) }
}
