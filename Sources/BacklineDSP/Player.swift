import BacklineRealtime
import CBackline
import Synchronization

/// Plays a sound file that another part of the program opens and reads ahead; see `PlayerControl` for the transport.
///
/// The render thread plays out of lanes that a reader keeps filled; it never waits for one (see `PlayerTransport`).
public struct Player: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case gain, position, isPlaying, underruns }

  public static let description = UnitDescription(
    kind: "player", title: "Player", summary: "Plays a sound file, from any place, in a loop where wanted.",
    inputs: [], outputs: [.init("output")],
    parameters: [
      .init(
        "gain", "How loud the file is played; at the bottom of the range, silent.", -96...24, default: 0,
        measure: .decibels),
      .reading(
        "position", "The place in the file that plays next.", 0...1_000_000, default: 0, measure: .seconds),
      .reading("isPlaying", "1 while the file plays.", 0...1, default: 0, measure: .none),
      .reading(
        "underruns", "How often sound was due that had not been read yet.", 0...16_777_216, default: 0, measure: .none),
    ],
    file: "sound",
    make: { format in
      let memory = PlayerMemory(sampleRate: format.sampleRate)
      return UnitInstance(
        initializing: Player(format, memory),
        control: PlayerControl(memory, sampleRate: format.sampleRate))
    })

  public static let functions = UnitFunctions(
    render: playerRender, set: playerSet, reset: playerReset, tail: playerTail)

  /// Keeps `transport.link` alive; never touched while rendering.
  private let memory: PlayerMemory
  private let readings: UnsafeMutablePointer<Float>
  private let secondsPerFrame: Double
  private var transport: PlayerTransport
  private var level = Ramp(1)

  /// A player that nothing controls.
  public init(_ format: UnitFormat) {
    self.init(format, PlayerMemory(sampleRate: format.sampleRate))
  }

  init(_ format: UnitFormat, _ memory: PlayerMemory) {
    self.memory = memory
    readings = format.readings
    secondsPerFrame = 1 / format.sampleRate
    transport = PlayerTransport(link: memory.link, rampFrames: format.rampFrames)
  }

  deinit { memory.link.pointee.isAbandoned.store(true, ordering: .releasing) }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    if count <= 0 { return }
    transport.receive(at: block.frame)
    let left = block.output(0, 0), right = block.output(0, 1)
    backline_zero(left, Int64(count))
    backline_zero(right, Int64(count))
    var isSilent = true
    var offset = 0
    while offset < count {
      let frame = block.frame &+ Int64(offset)
      transport.executeDue(at: frame)
      let length = Int(min(Int64(count &- offset), transport.nextCommandFrame &- frame))
      if transport.isSilent {
        transport.take()
      } else {
        isSilent = false
        transport.mix(left + offset, right + offset, length)
      }
      applyLevel(left + offset, right + offset, length)
      offset &+= length
    }
    if isSilent { block.outputs.unsafelyUnwrapped[0].isSilent = true }
    publish()
  }

  @_noLocks
  private mutating func applyLevel(
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    var start = 0
    while start < count && !level.isSettled {
      let gain = level.next()
      left[start] *= gain
      right[start] *= gain
      start &+= 1
    }
    let gain = level.value
    if gain == 1 { return }
    for i in start..<count {
      left[i] *= gain
      right[i] *= gain
    }
  }

  @_noLocks
  private func publish() {
    transport.publish()
    store(Float(Double(transport.position) * secondsPerFrame), .position)
    store(transport.isRunning ? 1 : 0, .isPlaying)
    store(Float(transport.link.pointee.underruns.load(ordering: .relaxed)), .underruns)
  }

  @_noLocks
  private func store(_ value: Float, _ parameter: Parameter) {
    backline_store_float(readings + parameter.rawValue, value)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == Parameter.gain.rawValue { level.move(to: Decibels.gain(value), over: rampFrames) }
  }

  @_noLocks
  mutating func reset() {
    transport.reset()
    level.settle()
    publish()
  }
}

@_noLocks
private func playerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Player.self).pointee.render(block.pointee)
}

@_noLocks
private func playerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Player.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func playerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Player.self).pointee.reset()
}

/// Sound comes from a file, not from an input: there is no end of the input after which a player could be skipped.
@_noLocks
private func playerTail(_ state: UnsafeMutableRawPointer) -> Int64 { 1 << 62 }
