import BacklineRealtime
import CBackline

/// Records a loop and plays it on and on, with more on top.
///
/// - `state` is what it does: going from record to play or overdub closes the loop, whose length is the frames between the two, to
///   the frame. Record always begins a new loop. A loop that has reached the end of the memory (30 s at 48 kHz, less at higher
///   rates) is closed there and plays.
/// - The seam is made smooth by what is played right after the loop is closed: it is faded over into its beginning. Overdubs and the
///   loop's sound begin and end along ramps.
/// - `isUndone` takes the last overdub back, and brings it again (`LooperMemory`).
/// - With `quantise` a change of state waits for the next beat or bar (of four) of `tempo`, counted from absolute frame 0; each beat
///   begins at the nearest frame.
/// - At half speed the loop sounds an octave lower and takes twice as long; what is played over it goes in at that speed.
public struct Looper: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case state, isUndone, isHalfSpeed, level, inputGain, overdubFeedback, quantise, tempo, loopLength, loopPosition
  }

  /// The values of `state`.
  private enum State: Int32 { case stop, record, play, overdub }

  public static let description = UnitDescription(
    kind: "looper", title: "Looper", summary: "Records a phrase and plays it on and on, with more on top.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .discrete(
        "state", "What it does: record begins a new loop, play or overdub closes it.",
        ["stop", "record", "play", "overdub"]),
      .toggle("isUndone", "Takes the last overdub away; off brings it back.", default: false),
      .toggle("isHalfSpeed", "Plays at half the speed, an octave lower.", default: false),
      .init("level", "How loud the loop is.", -96...12, default: 0, measure: .decibels),
      .init(
        "inputGain", "How loud the input is heard; does not change what is recorded.", -96...12, default: 0,
        measure: .decibels),
      .init(
        "overdubFeedback", "How much of the loop stays under an overdub: less lets old layers fade.", 0...100,
        default: 100, measure: .percent),
      .discrete("quantise", "What a change of state waits for.", ["off", "beat", "bar"]),
      TempoDivision.tempo,
      .reading("loopLength", "The length of the loop.", 0...200, default: 0, measure: .seconds),
      .reading("loopPosition", "Where in the loop it is.", 0...200, default: 0, measure: .seconds),
    ],
    make: { UnitInstance(Looper.self, $0) })

  public static let functions = UnitFunctions(
    render: looperRender, set: looperSet, reset: looperReset, tail: looperTail)

  private let sampleRate: Double
  private let rampFrames: Int32
  private let lengthReading: UnsafeMutablePointer<Float>
  private let positionReading: UnsafeMutablePointer<Float>
  private let memory = LooperMemory()

  private var wanted: Int32 = 0
  private var hasRequest = false
  private var state = State.stop
  private var length = 0
  /// Half frames into the loop.
  private var position = 0
  private var isHalf = false
  /// True where the last overdub has been taken back.
  private var isUndone = false
  private var quantise: Int32 = 0
  private var tempo = 120.0
  /// The frames of the seam that are still to be made.
  private var seam: Int32 = 0
  private var seamLength: Int32 = 1
  /// The loudness of the loop as it starts and stops, and of what goes into it.
  private var sounding = Ramp(0)
  private var entering = Ramp(0)
  /// The way from what was heard before an overdub was taken back, or brought again, to what is heard after.
  private var exchange = Ramp(1)
  private var level = Ramp(1)
  private var inputGain = Ramp(1)
  private var feedback = Ramp(1)

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    rampFrames = max(1, format.rampFrames)
    lengthReading = format.readings + Parameter.loopLength.rawValue
    positionReading = format.readings + Parameter.loopPosition.rawValue
  }

  deinit { memory.deallocate() }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    while start < count {
      var end = count
      if hasRequest {
        let due = dueFrame(from: block.frame &+ Int64(start)) &- block.frame
        if due <= Int64(start) { change() } else { end = Int(min(due, Int64(count))) }
      }
      for i in start..<end {
        let input = SIMD2(left[i], right[i])
        let output = step(input) * level.next() + input * inputGain.next()
        leftOut[i] = output.x
        rightOut[i] = output.y
      }
      start = end
    }
    backline_store_float(lengthReading, Float(Double(length) / sampleRate))
    backline_store_float(positionReading, Float(Double(position / 2) / sampleRate))
  }

  /// The first frame at or after `frame` at which a change of state may happen.
  @_noLocks
  private func dueFrame(from frame: Int64) -> Int64 {
    if quantise == 0 { return frame }
    let span = 60 / tempo * sampleRate * (quantise == 1 ? 1 : 4)
    // The beat before, since rounding may have put it here.
    var beat = backline_floor(Double(frame) / span)
    while Int64(backline_floor(beat * span + 0.5)) < frame { beat += 1 }
    return Int64(backline_floor(beat * span + 0.5))
  }

  @_noLocks
  private mutating func change() {
    hasRequest = false
    let next = State(rawValue: wanted) ?? .stop
    if next == .record {
      length = 0
      position = 0
      seam = 0
      state = .record
      sounding = Ramp(0)
      entering = Ramp(1)
      return
    }
    if state == .record { close() }
    if length == 0 {
      state = .stop
      return
    }
    if next == .overdub && state != .overdub {
      memory.beginOverdub()
      isUndone = false
    }
    if next == .stop {
      sounding.move(to: 0, over: rampFrames)
    } else {
      if state == .stop && sounding.value == 0 { position = 0 }
      sounding.move(to: 1, over: rampFrames)
    }
    entering.move(to: next == .overdub ? 1 : 0, over: rampFrames)
    state = next
  }

  /// Ends the first recording; the loop sounds at once, its seam made by what comes now.
  @_noLocks
  private mutating func close() {
    state = .play
    position = 0
    if length == 0 { return }
    seamLength = min(rampFrames, Int32(length))
    seam = seamLength
    memory.beginOverdub()
    isUndone = false
    sounding = Ramp(1)
    entering = Ramp(0)
    exchange = Ramp(1)
  }

  /// One frame: takes the input into the loop, returns the loop's sound.
  @inline(__always) @_noLocks
  private mutating func step(_ input: SIMD2<Float>) -> SIMD2<Float> {
    if state == .record {
      memory.record(length, input)
      length &+= 1
      if length == LooperMemory.capacity { close() }
      return .zero
    }
    let loud = sounding.next()
    let amount = entering.next()
    let kept = feedback.next()
    if length == 0 || (state == .stop && loud == 0 && sounding.isSettled) { return .zero }
    let frame = position >> 1
    var sound = memory.read(frame)
    var heard = sound
    if !exchange.isSettled {
      let old = memory.readOther(frame)
      heard = old + (sound - old) * exchange.next()
    }
    if position & 1 == 0 {
      if seam > 0 {
        // What goes on from the end of the loop fades into its beginning.
        let weight = Float(seam) / Float(seamLength)
        sound += (input - sound) * weight
        memory.record(frame, sound)
        heard = sound
        seam &-= 1
      }
      if amount > 0 { memory.overdub(frame, sound * (1 + (kept - 1) * amount) + input * amount) }
    } else {
      let next = frame &+ 1 == length ? 0 : frame &+ 1
      heard = (heard + memory.read(next)) * 0.5
    }
    position &+= isHalf ? 1 : 2 &- (position & 1)
    if position >= 2 &* length { position = 0 }
    return heard * loud
  }

  // MARK: Control

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .state:
      wanted = Int32(max(0, min(value, 3)) + 0.5)
      hasRequest = true
    case .isUndone:
      let undone = value >= 0.5
      if undone == isUndone { return }
      isUndone = undone
      // What is being played in just now is taken back with the rest.
      if state == .overdub { state = .play }
      entering = Ramp(0)
      memory.exchange()
      exchange = Ramp(0)
      exchange.move(to: 1, over: rampFrames)
    case .isHalfSpeed: isHalf = value >= 0.5
    case .level: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .inputGain: inputGain.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .overdubFeedback: feedback.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .quantise: quantise = Int32(max(0, min(value, 2)) + 0.5)
    case .tempo: tempo = Double(max(1, min(value, 10_000)))
    default: break
    }
  }

  @_noLocks
  mutating func reset() {
    hasRequest = wanted != 0
    state = .stop
    length = 0
    position = 0
    seam = 0
    sounding = Ramp(0)
    entering = Ramp(0)
    level.settle()
    inputGain.settle()
    feedback.settle()
    exchange = Ramp(1)
    isUndone = false
    memory.beginOverdub()
    backline_store_float(lengthReading, 0)
    backline_store_float(positionReading, 0)
  }

  /// Without end while there is a loop, or one is being made or waited for.
  @_noLocks
  func tail() -> Int64 {
    length > 0 || state == .record || (hasRequest && wanted == 1) ? Tail.endless : 0
  }
}

@_noLocks
private func looperRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Looper.self).pointee.render(block.pointee)
}

@_noLocks
private func looperSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Looper.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func looperReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Looper.self).pointee.reset()
}

@_noLocks
private func looperTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Looper.self).pointee.tail()
}
