import BacklineRealtime
import CBackline

/// Tells the note that is played, how far it is off, and how sure it is of that; the signal passes, or is muted.
///
/// `PitchTracker` finds the pitch of the sum of both channels every 20 ms or so.
public struct Tuner: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case referencePitch, mute, frequency, note, cents, confidence }

  public static let description = UnitDescription(
    kind: "tuner", title: "Tuner",
    summary:
      "Tells the note that is played and how many cents it is off, from low B of a bass to high E of a guitar and above.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("referencePitch", "The pitch of the A above middle C.", 400...480, default: 440, measure: .hertz),
      .toggle("mute", "Silences the output, to tune on stage.", default: false),
      .reading("frequency", "The pitch; 0 while there is none.", 0...20_000, default: 0, measure: .hertz),
      .reading(
        "note", "The nearest note as a MIDI number: 69 is the A above middle C; 0 while there is none.", 0...127,
        default: 0, measure: .none),
      .reading(
        "cents", "How much it is too high, or below 0 too low, in hundredths of a semitone.", -50...50, default: 0,
        measure: .cents),
      .reading(
        "confidence", "How periodic the sound is: 1 is a clear note; 0 while there is none.", 0...1, default: 0,
        measure: .none),
    ],
    make: { UnitInstance(Tuner.self, $0) })

  public static let functions = UnitFunctions(
    render: tunerRender, set: tunerSet, reset: tunerReset, tail: tunerTail)

  private let sampleRate: Double
  private let readings: UnsafeMutablePointer<Float>
  private let scratch = StereoScratch()
  private var decimator: Decimator
  private var tracker: PitchTracker
  private var reference: Float = 440
  private var heard = Ramp(1)

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    readings = format.readings
    let factor = max(1, Int(sampleRate / 11_000))
    decimator = Decimator(factor: factor, cutoff: min(2800, 0.3 * sampleRate), sampleRate: sampleRate)
    tracker = PitchTracker(sampleRate: sampleRate / Double(factor))
    store()
  }

  deinit {
    scratch.deallocate()
    decimator.deallocate()
    tracker.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    var offset = 0
    while offset < count {
      let piece = min(StereoScratch.capacity, count &- offset)
      scratch.load(block, from: offset, count: piece)
      decimator.filter(scratch.samples, piece)
      for frame in 0..<piece where decimator.takes() {
        let sample = scratch.samples[frame].x + scratch.samples[frame].y
        if tracker.take(Float(max(-1e6, min(sample, 1e6)))) {
          tracker.track()
          store()
        }
      }
      offset &+= piece
    }
    pass(block, count)
  }

  @_noLocks
  private mutating func pass(_ block: borrowing RenderBlock, _ count: Int) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    var start = 0
    while start < count && !heard.isSettled {
      let gain = heard.next()
      leftOut[start] = left[start] * gain
      rightOut[start] = right[start] * gain
      start &+= 1
    }
    SampleMath.scale(leftOut + start, left + start, by: heard.value, count: count &- start)
    SampleMath.scale(rightOut + start, right + start, by: heard.value, count: count &- start)
  }

  @_noLocks
  private func store() {
    let frequency = tracker.frequency
    var note: Float = 0, cents: Float = 0
    if frequency > 0 {
      let exact = 69 + 12 * backline_log(frequency / Double(reference)) / backline_log(2)
      let nearest = max(0, min(backline_floor(exact + 0.5), 127))
      note = Float(nearest)
      cents = Float(max(-50, min(100 * (exact - nearest), 50)))
    }
    backline_store_float(readings + Parameter.frequency.rawValue, Float(frequency))
    backline_store_float(readings + Parameter.note.rawValue, note)
    backline_store_float(readings + Parameter.cents.rawValue, cents)
    backline_store_float(readings + Parameter.confidence.rawValue, tracker.confidence)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .referencePitch: reference = max(100, min(value, 1000))
    case .mute: heard.move(to: value < 0.5 ? 1 : 0, over: frames)
    default: break
    }
  }

  @_noLocks
  mutating func reset() {
    decimator.reset()
    tracker.reset()
    heard.settle()
    store()
  }

  /// The time in which the tracker's window has run empty. The signal itself has no tail.
  @_noLocks
  func tail() -> Int64 { Tail.frames(0.3, sampleRate: sampleRate) }
}

@_noLocks
private func tunerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Tuner.self).pointee.render(block.pointee)
}

@_noLocks
private func tunerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Tuner.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func tunerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Tuner.self).pointee.reset()
}

@_noLocks
private func tunerTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Tuner.self).pointee.tail()
}
