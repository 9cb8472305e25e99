import BacklineGraph

/// Gives buses their buffers where tasks run in any order that their waiting allows.
///
/// A buffer is used again by a task only when every task that used it before has been waited for: within a task it is free after
/// the last step that needs it, and what is free at a task's end goes to one of the tasks that wait for it. Buses that the host's
/// side or several tasks read have buffers of their own.
struct TaskBuffers: ~Copyable {
  /// The buffer of each channel of each bus, in the order of the buses.
  private(set) var buffers: PlainList<Int32>
  private(set) var bufferCount: Int32 = 0
  private let firstChannel: UnsafeBufferPointer<Int32>
  /// The last step that needs each bus; negative where it is kept.
  private var lastStep: PlainList<Int32>
  private var isPlaced: PlainList<Bool>
  /// The free buffers in the task's hand, chained.
  private var free: Int32 = -1
  private var nextFree = PlainList<Int32>(capacity: 64)
  private static var kept: Int32 { -2 }

  /// `firstChannel` as a plan has it; `steps` in the order of the tasks, `starts` where each task's begin and the last ends, `heirs`
  /// a task that waits for each (negative for none).
  init(
    _ steps: UnsafeBufferPointer<RenderStep>, inputTable: UnsafeBufferPointer<Int32>,
    firstChannel: UnsafeBufferPointer<Int32>, starts: UnsafeBufferPointer<Int32>, heirs: UnsafeBufferPointer<Int32>
  ) {
    self.firstChannel = firstChannel
    let busCount = firstChannel.count - 1
    buffers = PlainList(repeating: 0, count: Int(firstChannel[busCount]))
    lastStep = PlainList(repeating: -1, count: busCount)
    isPlaced = PlainList(repeating: false, count: busCount)
    findLastSteps(steps, inputTable, starts, taskCount: heirs.count)
    for bus in 0..<Int32(busCount) where lastStep[bus] == Self.kept { place(bus) }
    var inherited = PlainList<Int32>(repeating: -1, count: heirs.count)
    for (task, heir) in heirs.enumerated() {
      free = inherited[task]
      for index in Int(starts[task])..<Int(starts[task + 1]) {
        steps[index].forEachWritten { place($0) }
        steps[index].forEachRead(inputTable) { release($0, after: index) }
        steps[index].forEachWritten { release($0, after: index) }
      }
      if heir >= 0 { inherited[heir] = joined(free, inherited[heir]) }
    }
  }

  private mutating func findLastSteps(
    _ steps: UnsafeBufferPointer<RenderStep>, _ inputTable: UnsafeBufferPointer<Int32>,
    _ starts: UnsafeBufferPointer<Int32>, taskCount: Int
  ) {
    var reader = PlainList<Int32>(repeating: -1, count: lastStep.count)
    for index in steps.indices where steps[index].isHostSide {
      steps[index].forEachRead(inputTable) { lastStep[$0] = Self.kept }
      steps[index].forEachWritten { lastStep[$0] = Self.kept }
    }
    for task in 0..<taskCount {
      for index in Int(starts[task])..<Int(starts[task + 1]) {
        steps[index].forEachRead(inputTable) { bus in
          if reader[bus] >= 0 && reader[bus] != Int32(task) { lastStep[bus] = Self.kept }
          reader[bus] = Int32(task)
          if lastStep[bus] != Self.kept { lastStep[bus] = Int32(index) }
        }
        // What is added to and never read is done when the last has added.
        steps[index].forEachWritten { bus in
          if lastStep[bus] != Self.kept { lastStep[bus] = max(lastStep[bus], Int32(index)) }
        }
      }
    }
  }

  private mutating func place(_ bus: Int32) {
    if isPlaced[bus] { return }
    isPlaced[bus] = true
    for channel in firstChannel[Int(bus)]..<firstChannel[Int(bus) + 1] {
      if free >= 0 {
        buffers[channel] = free
        free = nextFree[free]
      } else {
        buffers[channel] = bufferCount
        nextFree.append(-1)
        bufferCount += 1
      }
    }
  }

  private mutating func release(_ bus: Int32, after step: Int) {
    if lastStep[bus] != Int32(step) { return }
    lastStep[bus] = -1
    for channel in firstChannel[Int(bus)]..<firstChannel[Int(bus) + 1] {
      nextFree[buffers[channel]] = free
      free = buffers[channel]
    }
  }

  /// One chain of two.
  private mutating func joined(_ first: Int32, _ second: Int32) -> Int32 {
    if first < 0 { return second }
    var last = first
    while nextFree[last] >= 0 { last = nextFree[last] }
    nextFree[last] = second
    return first
  }
}
