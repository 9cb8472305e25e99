import BacklineRealtime
import CBackline

/// One bus of a plan: the samples that one step writes and later steps read.
struct PlanBus {
  /// What readers see: the bus's own channels, or the plan's silence.
  var buffer: BusBuffer
  let own: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  /// A bus's buffer in place: it is the first thing in the bus.
  @_noLocks
  static func buffer(_ bus: UnsafeMutablePointer<PlanBus>) -> UnsafeMutablePointer<BusBuffer> {
    UnsafeMutableRawPointer(bus).assumingMemoryBound(to: BusBuffer.self)
  }
}

/// One step of a plan; the steps run in order.
public struct RenderStep: BitwiseCopyable {
  public enum Kind: UInt8, BitwiseCopyable {
    /// Copies host inputs into `target`.
    case input
    /// Renders `node` from the buses in the input table to the buses from `target` on.
    case render
    /// Gives `source` to the summing `node` as its input `bus`.
    case accumulate
    /// Brings `source` into `target` through `edge`: channel conversion, alignment, fade.
    case gather
    /// Keeps `source` for the next quantum, in `edge`.
    case keep
    /// Copies `source` to host outputs; silence where it is negative.
    case output
    /// Copies `source` (silence where it is negative) to the recorder's channels from `bus` on, `outputCount` of them.
    case record
    /// Copies host inputs from `firstInput` on there.
    case recordInput
    /// Copies what has been written to host outputs from `firstInput` on there.
    case recordOutput
  }

  public var kind: Kind
  /// True when `target` has to be written rather than added to.
  public var isFirst = false
  public var node: UnsafeMutablePointer<NodeState>?
  public var edge: UnsafeMutablePointer<EdgeState>?
  public var source: Int32 = -1
  public var target: Int32 = -1
  public var bus: Int32 = 0
  public var firstInput: Int32 = 0
  public var inputCount: Int32 = 0
  public var outputCount: Int32 = 0

  public init(_ kind: Kind) { self.kind = kind }
}

/// What has to happen at the frame from which a plan runs.
public struct AdoptionAction: BitwiseCopyable {
  public enum Kind: UInt8, BitwiseCopyable {
    /// Puts `node` into the slot table at `index` with `generation`; a missing node empties the place.
    case setSlot
    /// Fades `edge` to `value` over `frames`, after `hold` frames.
    case fade
    /// Fades `edge` out over `frames`, after `hold` frames, whatever fade runs now.
    case endLater
    /// Gives `edge` a new alignment line that takes over what the present one holds.
    case installLine
    /// Moves `edge`'s alignment to `index` frames over `frames`.
    case align
    /// Takes the alignment line off `edge`.
    case removeLine
    /// Gives `node` its latency in `index` and, for bypass, the line of `index` frames.
    case setLatency
    /// Takes `event` at this frame.
    case event
    /// Has the plan's `record` steps write to `recorder`; without one they do nothing.
    case setRecorder
  }

  public var kind: Kind
  public var node: UnsafeMutablePointer<NodeState>?
  public var edge: UnsafeMutablePointer<EdgeState>?
  public var line: UnsafeMutablePointer<AlignmentLine>?
  public var index: Int32 = 0
  public var generation: UInt32 = 0
  public var value: Float = 0
  public var frames: Int32 = 0
  public var hold: Int32 = 0
  public var recorder: UnsafeMutablePointer<RecordRing>?
  public var event = RenderEvent(slot: 0, generation: 0, parameter: 0, value: 0, rampFrames: 0, serial: 0)

  public init(_ kind: Kind) { self.kind = kind }
}

/// What the render thread runs: a flat list of steps over preassigned buffers, and, where several threads may run them, how they
/// are shared. Compiled and freed by the control queue; its lists never change, its buffers belong to whoever renders.
public struct RenderPlan {
  /// Counts up from plan to plan.
  public let serial: Int32
  /// The absolute frame from which it has to run; the next quantum edge where that has passed.
  public let applyFrame: Int64
  /// The longest slice: a quantum where a loop is closed, else `maximumSlice`.
  let sliceLimit: Int32
  let steps: UnsafeMutablePointer<RenderStep>
  let stepCount: Int
  let buses: UnsafeMutablePointer<PlanBus>
  let inputTable: UnsafeMutablePointer<Int32>
  let actions: UnsafeMutablePointer<AdoptionAction>
  let actionCount: Int
  /// Memory for each thread that may run the steps, the host's first.
  let scratches: UnsafeMutablePointer<RenderScratch>
  let threadCount: Int
  /// How the steps can be shared among threads; `nil` where one runs them all.
  let tasks: UnsafeMutablePointer<TaskGraph>?

  private let samples: UnsafeMutablePointer<Float>
  private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  /// True when several threads can share its steps.
  public var isShared: Bool { tasks != nil }

  /// The longest slice in frames: buffers are this long, however long a host's period is.
  public static var maximumSlice: Int { @_noLocks get { 256 } }

  /// A cache line longer than a slice, so that equal places of many buffers do not fall into the same cache sets.
  private static let stride = maximumSlice + 16

  /// Lays a compiled list out in memory.
  ///
  /// `firstChannels` names, for every bus and behind the last, its first channel, and `channelBuffers` the buffer of each
  /// channel; `isBusConnected` tells what readers take a bus for, since a connection that only fades out counts as none.
  /// With `tasks`, up to `threadCount` threads run the steps.
  public init(
    serial: Int32, applyFrame: Int64, hasLoops: Bool, steps: UnsafeBufferPointer<RenderStep>,
    firstChannels: UnsafeBufferPointer<Int32>, isBusConnected: UnsafeBufferPointer<Bool>,
    channelBuffers: UnsafeBufferPointer<Int32>, bufferCount: Int, inputTable: UnsafeBufferPointer<Int32>,
    actions: [AdoptionAction], mostInputs: Int, tasks: TaskGraph? = nil, threadCount: Int = 1
  ) {
    self.serial = serial
    self.applyFrame = applyFrame
    sliceLimit = hasLoops ? Int32(Quantum.frames) : Int32(RenderPlan.maximumSlice)
    self.steps = RenderPlan.copy(steps)
    stepCount = steps.count
    self.inputTable = RenderPlan.copy(inputTable)
    self.actions = actions.withUnsafeBufferPointer { RenderPlan.copy($0) }
    actionCount = actions.count
    samples = SampleMemory.allocate((bufferCount + 1) * RenderPlan.stride)
    pointers = .allocate(capacity: max(1, channelBuffers.count))
    for index in channelBuffers.indices {
      (pointers + index).initialize(to: samples + (Int(channelBuffers[index]) + 1) * RenderPlan.stride)
    }
    buses = .allocate(capacity: max(1, isBusConnected.count))
    for index in isBusConnected.indices {
      let own = pointers + Int(firstChannels[index])
      let buffer = BusBuffer(
        channels: own, channelCount: firstChannels[index + 1] - firstChannels[index],
        isConnected: isBusConnected[index], isSilent: true)
      (buses + index).initialize(to: PlanBus(buffer: buffer, own: own))
    }
    self.threadCount = tasks == nil ? 1 : threadCount
    scratches = .allocate(capacity: self.threadCount)
    for thread in 0..<self.threadCount {
      (scratches + thread).initialize(to: RenderScratch(silence: samples, mostInputs: mostInputs))
    }
    if let tasks {
      self.tasks = .allocate(capacity: 1)
      self.tasks.unsafelyUnwrapped.initialize(to: tasks)
    } else {
      self.tasks = nil
    }
  }

  static func copy<Element: BitwiseCopyable>(
    _ elements: UnsafeBufferPointer<Element>
  ) -> UnsafeMutablePointer<Element> {
    let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
    if let base = elements.baseAddress { memory.initialize(from: base, count: elements.count) }
    return memory
  }

  /// Frees a plan that nobody runs, with the memory that it lies in.
  public static func free(_ plan: UnsafeMutablePointer<RenderPlan>) {
    plan.pointee.deallocate()
    plan.deinitialize(count: 1)
    plan.deallocate()
  }

  /// Frees the memory, but nothing that the plan points to. Control queue, once the plan is retired.
  public func deallocate() {
    steps.deallocate()
    inputTable.deallocate()
    actions.deallocate()
    pointers.deallocate()
    buses.deallocate()
    for thread in 0..<threadCount { scratches[thread].deallocate() }
    scratches.deallocate()
    if let tasks {
      tasks.pointee.deallocate()
      tasks.deallocate()
    }
    SampleMemory.free(samples)
  }
}

/// Memory that one rendering thread needs beside a plan's buffers.
struct RenderScratch {
  /// Channel pointers that all lead to silence, for any bus.
  let silentChannels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  /// The inputs of the step that runs.
  let inputs: UnsafeMutablePointer<BusBuffer>
  /// Channel pointers and buses moved by an offset, for a step that renders part of a slice.
  let movedPointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  let movedInputs: UnsafeMutablePointer<BusBuffer>
  let movedOutputs: UnsafeMutablePointer<BusBuffer>
  /// A slice of fade values.
  let fade: UnsafeMutablePointer<Float>
  /// A bus of the most channels, for delayed or kept samples.
  let line: UnsafeMutablePointer<Float>
  let lineChannels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  static let mostChannels = 32
  static let mostOutputs = 64

  init(silence: UnsafeMutablePointer<Float>, mostInputs: Int) {
    let slice = RenderPlan.maximumSlice
    let buses = max(1, mostInputs)
    silentChannels = .allocate(capacity: Self.mostChannels)
    silentChannels.initialize(repeating: silence, count: Self.mostChannels)
    inputs = .allocate(capacity: buses)
    movedPointers = .allocate(capacity: (buses + Self.mostOutputs) * Self.mostChannels)
    movedInputs = .allocate(capacity: buses)
    movedOutputs = .allocate(capacity: Self.mostOutputs)
    fade = SampleMemory.allocate(slice)
    line = SampleMemory.allocate(slice * Self.mostChannels)
    lineChannels = .allocate(capacity: Self.mostChannels)
    for channel in 0..<Self.mostChannels { (lineChannels + channel).initialize(to: line + channel * slice) }
  }

  func deallocate() {
    silentChannels.deallocate()
    inputs.deallocate()
    movedPointers.deallocate()
    movedInputs.deallocate()
    movedOutputs.deallocate()
    SampleMemory.free(fade)
    SampleMemory.free(line)
    lineChannels.deallocate()
  }
}
