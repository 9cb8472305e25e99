import BacklineRealtime
import CBackline

/// What an instance is made for.
public struct UnitFormat {
  /// Frames a second.
  public let sampleRate: Double
  /// The length of a parameter's ramp in frames where no other is asked for (R4).
  public let rampFrames: Int32
  /// Where the unit stores what it measures, one value a parameter (by the parameter's index), with
  /// `backline_store_float`. Outlives the instance.
  public let readings: UnsafeMutablePointer<Float>

  public init(sampleRate: Double, rampFrames: Int32, readings: UnsafeMutablePointer<Float>) {
    self.sampleRate = sampleRate
    self.rampFrames = rampFrames
    self.readings = readings
  }
}

/// The state of one unit. Everything but `init` runs on the render thread and carries `@_noLocks`.
///
/// The rules of a unit:
/// - `render` gives the same bits however a signal is cut into blocks: what is not done per sample is done at the
///   edges of the quantum (`QuantumCursor`), never at the start of a block.
/// - A parameter that changes moves over `rampFrames` frames, smoothly per sample; with 0 frames it jumps.
/// - With silent inputs and cleared state the output is exactly zero, and `tail` tells how long it may go on after the
///   input has ended (frames). When that has passed, `reset` is called and rendering is skipped until a sample comes.
/// - Input is always finite, but may be as loud as 1e30: state must find back to sound from that within the tail.
/// - Nothing is allocated after `init`; memory is freed in `deinit`.
public protocol ProcessingUnit: RenderUnit, ~Copyable {
  static var description: UnitDescription { get }
  init(_ format: UnitFormat)
}

/// A unit that its owner makes around something of its own, and describes each time. The same rules hold.
public protocol RenderUnit: ~Copyable, SendableMetatype {
  static var functions: UnitFunctions { get }
}

/// The C functions through which a plan calls a unit. Each is a file-level `@_noLocks` function that forwards to a
/// method of the state.
public struct UnitFunctions: @unchecked Sendable {
  /// Renders all output buses.
  public let render: UnitRender
  /// Takes the new value of a parameter. Called between blocks, at the exact frame.
  public let set: UnitSet
  /// Clears memory of past sound and settles every ramp; parameters stay.
  public let reset: UnitReset
  /// The frames that sound goes on for after the input has ended, in the present state.
  public let tail: UnitTail
  /// For units with growing inputs: takes one input bus as soon as its source has been rendered. The block has this one
  /// input bus and the unit's output buses, in which it sums; `isFirst` means that nothing has been summed yet.
  public let accumulate: UnitAccumulate?
  /// True for a unit that takes note of silence, too, and is therefore rendered always.
  public let isSleepless: Bool

  public init(
    render: UnitRender, set: UnitSet, reset: UnitReset, tail: UnitTail, accumulate: UnitAccumulate? = nil,
    isSleepless: Bool = false
  ) {
    self.render = render
    self.set = set
    self.reset = reset
    self.tail = tail
    self.accumulate = accumulate
    self.isSleepless = isSleepless
  }
}

/// A unit's state in memory of its own, with the functions to run it. Freed by `deallocate()`, on a control thread.
public struct UnitInstance: @unchecked Sendable {
  public let state: UnsafeMutableRawPointer
  public let functions: UnitFunctions
  /// Makes room for `count` growing input buses before a plan with so many is published. Control thread.
  public let reserveInputs: ((_ count: Int) -> Void)?
  /// What a control thread may do to this instance beyond parameters (a player's transport).
  public let control: (any AnyObject & Sendable)?
  private let free: () -> Void

  /// An instance of `type`.
  public init<Unit: ProcessingUnit & ~Copyable>(
    _ type: Unit.Type, _ format: UnitFormat, control: (any AnyObject & Sendable)? = nil,
    reserveInputs: ((UnsafeMutablePointer<Unit>, Int) -> Void)? = nil
  ) {
    self.init(initializing: Unit(format), control: control, reserveInputs: reserveInputs)
  }

  /// An instance around a state made by the caller.
  public init<Unit: RenderUnit & ~Copyable>(
    initializing unit: consuming Unit, control: (any AnyObject & Sendable)? = nil,
    reserveInputs: ((UnsafeMutablePointer<Unit>, Int) -> Void)? = nil
  ) {
    let pointer = UnsafeMutablePointer<Unit>.allocate(capacity: 1)
    pointer.initialize(to: unit)
    state = UnsafeMutableRawPointer(pointer)
    functions = Unit.functions
    self.control = control
    self.reserveInputs = reserveInputs.map { reserve in { count in reserve(pointer, count) } }
    free = {
      pointer.deinitialize(count: 1)
      pointer.deallocate()
    }
  }

  /// Frees the state. No plan may hold it any more.
  public func deallocate() { free() }
}
