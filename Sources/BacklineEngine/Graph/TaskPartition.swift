import BacklineGraph

/// How plans are to be shared among threads.
struct ParallelSettings {
  /// Threads that render, the host's included.
  var threadCount: Int
  var policy: ParallelPolicy
  /// Frames of a slice as the host will ask for them.
  var sliceFrames: Int
  /// True where workers are awake already when a slice begins, since slices follow on each other.
  var isContinuous: Bool
  /// True while the present plan can be shared: what just paid goes on to pay until it clearly does not.
  var wasShared: Bool
}

/// Shares the steps of a compiled list among tasks: a chain stays in one, small ones are brought together until each is worth
/// handing over, and so few remain that their bookkeeping does not show.
struct TaskPartition: ~Copyable {
  /// The task of each step; negative for steps of the host's side.
  private let taskOf: PlainList<Int32>
  private let quotient: TaskQuotient
  /// Nanoseconds of the longest way from each task to the end of the slice, itself included.
  private let urgency: PlainList<Float>
  /// Nanoseconds of all tasks.
  private let work: Float

  /// Nanoseconds that taking a task costs, and that waking a worker may take.
  private static let taskTime: Float = 300, wakeTime: Float = 10_000

  /// The tasks of these steps; `nil` where sharing them would not pay.
  static func make(
    _ steps: UnsafeBufferPointer<RenderStep>, inputTable: UnsafeBufferPointer<Int32>, busCount: Int,
    _ settings: ParallelSettings
  ) -> TaskPartition? {
    var taskOf = PlainList<Int32>(repeating: -1, count: steps.count)
    var quotient = quotient(steps, inputTable, busCount, frames: Float(settings.sliceFrames), &taskOf)
    var work: Float = 0
    for group in 0..<quotient.count { work += quotient.cost[group] }
    let isForced = settings.policy == .always
    let least: Float = (settings.wasShared ? 15_000 : 25_000) * (settings.isContinuous ? 0.4 : 1)
    if quotient.count < 2 || (work < least && !isForced) { return nil }
    // Small where it is forced, so that there is something to share.
    let grain = isForced ? 300 : min(max(work / Float(16 * settings.threadCount), 2_000), 50_000)
    rename(&taskOf, quotient.absorb(small: 0, limit: 0))
    rename(&taskOf, quotient.bundle(limit: grain))
    rename(&taskOf, quotient.absorb(small: grain / 4, limit: 2 * grain))
    rename(&taskOf, quotient.prepend(limit: grain))
    rename(&taskOf, quotient.absorb(small: grain / 4, limit: 2 * grain))
    let urgency = urgencies(quotient)
    if quotient.count < 2 || quotient.count > RenderCrew.mostTasks { return nil }
    if !isForced {
      var longest: Float = 0
      for task in 0..<urgency.count { longest = max(longest, urgency[task]) }
      let threads = Float(settings.threadCount)
      let wake = settings.isContinuous ? wakeTime / 5 : wakeTime
      let shared = max(longest, work / threads) + Float(quotient.count) * taskTime / threads + wake
      if shared > work * (settings.wasShared ? 0.95 : 0.85) { return nil }
    }
    return TaskPartition(taskOf, quotient, urgency, work)
  }

  private init(
    _ taskOf: consuming PlainList<Int32>, _ quotient: consuming TaskQuotient, _ urgency: consuming PlainList<Float>,
    _ work: Float
  ) {
    self.taskOf = taskOf
    self.quotient = quotient
    self.urgency = urgency
    self.work = work
  }

  /// A group for each step that is not of the host's side, which waits for those that write what it reads or adds to.
  private static func quotient(
    _ steps: UnsafeBufferPointer<RenderStep>, _ inputTable: UnsafeBufferPointer<Int32>, _ busCount: Int, frames: Float,
    _ taskOf: inout PlainList<Int32>
  ) -> TaskQuotient {
    var quotient = TaskQuotient(capacity: steps.count)
    var writer = PlainList<Int32>(repeating: -1, count: busCount)
    for (index, step) in steps.enumerated() where !step.isHostSide {
      let group = Int32(quotient.count)
      taskOf[index] = group
      step.forEachRead(inputTable) { quotient.wait(for: writer[$0]) }
      step.forEachWritten { bus in
        quotient.wait(for: writer[bus])
        writer[bus] = group
      }
      quotient.end(cost: cost(of: step, frames: frames))
    }
    return quotient
  }

  /// Nanoseconds that a step takes: what has been measured of its node, else a guess that is soon replaced.
  private static func cost(of step: RenderStep, frames: Float) -> Float {
    switch step.kind {
    case .render:
      guard let node = step.node, step.inputCount > 0 || step.outputCount > 0 else { return 50 }
      return 50 + frames * (NodeCost.whileSounding(node) ?? NodeCost.guess)
    default: return 60 + frames * 0.7
    }
  }

  private static func rename(_ taskOf: inout PlainList<Int32>, _ number: borrowing PlainList<Int32>) {
    for step in 0..<taskOf.count where taskOf[step] >= 0 { taskOf[step] = number[taskOf[step]] }
  }

  private static func urgencies(_ quotient: borrowing TaskQuotient) -> PlainList<Float> {
    var behind = PlainList<Float>(repeating: 0, count: quotient.count)
    var task = Int32(quotient.count)
    while task > 0 {
      task -= 1
      behind[task] += quotient.cost[Int(task)]
      for source in quotient.sources(of: task) { behind[source] = max(behind[source], behind[task]) }
    }
    return behind
  }

  // MARK: Laying out

  /// The steps in the order of their tasks, those of the host's side before and behind.
  func order(_ steps: UnsafeBufferPointer<RenderStep>) -> PlainList<RenderStep> {
    var ordered = PlainList<RenderStep>(capacity: steps.count)
    for step in steps where step.isInput { ordered.append(step) }
    var next = starts(steps)
    var placed = PlainList<RenderStep>(repeating: RenderStep(.keep), count: Int(next[quotient.count]))
    for step in 0..<steps.count where taskOf[step] >= 0 {
      placed[next[taskOf[step]]] = steps[step]
      next[taskOf[step]] += 1
    }
    for index in ordered.count..<placed.count { ordered.append(placed[index]) }
    for step in steps where step.isHostSide && !step.isInput { ordered.append(step) }
    return ordered
  }

  /// Where each task's steps begin in that order, and where the last one's end.
  func starts(_ steps: UnsafeBufferPointer<RenderStep>) -> PlainList<Int32> {
    var starts = PlainList<Int32>(repeating: 0, count: quotient.count + 1)
    for step in steps where step.isInput { starts[0] += 1 }
    for step in 0..<steps.count where taskOf[step] >= 0 { starts[taskOf[step] + 1] += 1 }
    for index in 1..<starts.count { starts[index] += starts[index - 1] }
    return starts
  }

  /// For each task the most urgent one that waits for it; negative for none.
  var heirs: PlainList<Int32> {
    var heirs = PlainList<Int32>(repeating: -1, count: quotient.count)
    for task in 0..<Int32(quotient.count) {
      for source in quotient.sources(of: task) where heirs[source] < 0 || urgency[heirs[source]] < urgency[task] {
        heirs[source] = task
      }
    }
    return heirs
  }

  /// The tasks as a plan has them, whose steps begin at `starts`.
  func tasks(_ starts: UnsafeBufferPointer<Int32>) -> TaskGraph {
    let count = quotient.count
    var firstReader = PlainList<Int32>(repeating: 0, count: count + 2)
    for task in 0..<Int32(count) {
      for source in quotient.sources(of: task) { firstReader[source + 2] += 1 }
    }
    for index in 1..<firstReader.count { firstReader[index] += firstReader[index - 1] }
    var readers = PlainList<Int32>(repeating: 0, count: max(1, Int(firstReader[count + 1])))
    var roots = PlainList<Int32>(capacity: 64)
    // The most urgent comes first among those that wait, and last among those that do not.
    let byUrgency = sortedByUrgency()
    for task in byUrgency {
      for source in quotient.sources(of: task) {
        readers[firstReader[source + 1]] = task
        firstReader[source + 1] += 1
      }
    }
    for task in byUrgency.reversed() where quotient.sources(of: task).isEmpty { roots.append(task) }
    var tasks = PlainList<RenderTask>(capacity: count)
    for task in 0..<count {
      tasks.append(
        RenderTask(
          firstStep: starts[task], endStep: starts[task + 1],
          dependencyCount: Int32(quotient.sources(of: Int32(task)).count), firstSuccessor: firstReader[task],
          endSuccessor: firstReader[task + 1]))
    }
    return TaskGraph(
      tasks: tasks.elements, successors: readers.elements, roots: roots.elements, firstStep: Int(starts[0]),
      endStep: Int(starts[count]), expectedTime: Int64(work))
  }

  private func sortedByUrgency() -> [Int32] {
    let urgencies = urgency.elements
    return (0..<Int32(quotient.count)).sorted { urgencies[Int($0)] > urgencies[Int($1)] }
  }
}

extension RenderStep {
  /// True for what the host's thread does itself, before all tasks (inputs) or after them.
  var isHostSide: Bool {
    switch kind {
    case .render, .accumulate, .gather: false
    case .input, .keep, .output, .record, .recordInput, .recordOutput: true
    }
  }

  var isInput: Bool { kind == .input }

  /// The buses whose samples it reads.
  func forEachRead(_ inputTable: UnsafeBufferPointer<Int32>, _ body: (Int32) -> Void) {
    switch kind {
    case .render:
      for at in Int(firstInput)..<Int(firstInput + inputCount) where inputTable[at] >= 0 { body(inputTable[at]) }
    case .gather, .accumulate, .keep, .output, .record: if source >= 0 { body(source) }
    case .input, .recordInput, .recordOutput: break
    }
  }

  /// The buses that it writes, or adds to.
  func forEachWritten(_ body: (Int32) -> Void) {
    switch kind {
    case .render: for bus in target..<target + outputCount { body(bus) }
    case .gather, .accumulate, .input: body(target)
    case .keep, .output, .record, .recordInput, .recordOutput: break
    }
  }
}
