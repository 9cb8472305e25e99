import BacklineRealtime
import CBackline

/// A stereo delay with feedback.
///
/// - The delay is a whole number of frames. A new `delayTime` fades from the old tap to the new one over the ramp (equal
///   gain), without a change of pitch; a change during a fade waits for its end, and of several the newest counts.
/// - The feedback passes a high-pass and a low-pass filter of the first order, whose gain is nowhere above 1, so at 100 %
///   the echoes stay and do not grow. What goes in above +12 dB for all that (echoes that pile up on a steady
///   input, an input gone wild) is clipped there on its way back; the echo itself is heard as loud as it came.
/// - `pingPong` sends both inputs to the left and crosses the feedback: left, right, left.
/// - With `division` the time is a note at `tempo`, at most as long as the longest delay.
/// - `wow` moves the tap as an uneven tape does (`TapeWander`); at 0 the delay is exact.
/// - `ducking` turns the echoes down while something comes in (`EchoDucker`); what is fed back is not turned down.
public struct Delay: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case wetDryMix, delayTime, feedback, lowPassCutoff, highPassCutoff, pingPong, division, tempo, wow, ducking
  }

  public static let description = UnitDescription(
    kind: "delay", title: "Delay", summary: "Repeats the signal as echoes, side by side or from left to right.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output is echo: 0 is the input alone, 100 the echoes alone.", 0...100,
        default: 30, measure: .percent),
      .init(
        "delayTime", "The time from one echo to the next.", 0.001...longestTime, default: 1, measure: .seconds,
        taper: .quadratic),
      .init(
        "feedback", "How loud each echo is against the one before; below 0 every other one is inverted.", -100...100,
        default: 50, measure: .percent),
      .init(
        "lowPassCutoff", "The echoes lose what is above, each one more.", 10...20_000, default: 15_000,
        measure: .hertz, taper: .logarithmic),
      .init(
        "highPassCutoff", "The echoes lose what is below, each one more.", 10...2000, default: 10, measure: .hertz,
        taper: .logarithmic),
      .toggle("pingPong", "The echoes change sides.", default: false),
      TempoDivision.parameter(
        "division", "The time from echo to echo as a note of the tempo; free goes by `delayTime`."),
      TempoDivision.tempo,
      .init(
        "wow", "How much the pitch of the echoes wavers, as on a worn tape machine.", 0...100, default: 0,
        measure: .percent),
      .init(
        "ducking", "How far the echoes go down while something is played: they come up in the pauses.", 0...40,
        default: 0, measure: .decibels),
    ],
    make: { UnitInstance(Delay.self, $0) })

  public static let functions = UnitFunctions(render: delayRender, set: delaySet, reset: delayReset, tail: delayTail)

  private static var longestTime: Float { @_noLocks get { 5 } }
  /// The bound of what is fed back: +12 dB.
  private static var limit: Float { @_noLocks get { 4 } }

  private let sampleRate: Double
  private var line: StereoDelayLine
  private var time: Crossfade
  private var mix = Ramp(0.3)
  private var feedback = Ramp(0.5)
  private var crossing = Ramp(0)
  private var lowPass = OnePole()
  private var highPass = OnePole()
  private var wander: TapeWander
  private var ducker: EchoDucker
  private var freeTime: Float = 1
  private var division: Int32 = 0
  private var tempo: Float = 120

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    line = StereoDelayLine(maximum: Int((Double(Self.longestTime) + TapeWander.longestTime) * sampleRate) + 8)
    wander = TapeWander(sampleRate: sampleRate)
    ducker = EchoDucker(sampleRate: sampleRate)
    time = Crossfade(Int32(sampleRate))
    lowPass.coefficient = Ramp(OnePole.coefficient(cutoff: 15_000, sampleRate: sampleRate))
    highPass.coefficient = Ramp(OnePole.coefficient(cutoff: 10, sampleRate: sampleRate))
  }

  deinit { line.deallocate() }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let count = Int(block.frameCount)
    wander.begin(at: block.frame)
    var start = 0
    while start < count && !isPlain {
      let (whole, fraction) = wander.next()
      var echo = read(time.to, whole, fraction)
      if !time.isSettled {
        let old = read(time.from, whole, fraction)
        echo = old + time.weight * (echo - old)
      }
      let input = SIMD2(left[start], right[start])
      let output = step(input, echo, ducker.next(input))
      leftOut[start] = output.x
      rightOut[start] = output.y
      advance()
      start &+= 1
    }
    let silent = min(count, start &+ line.silentFrames(Int(time.to)))
    for i in start..<max(start, silent) {
      let output = step(SIMD2(left[i], right[i]), .zero, 1)
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
    if silent < count {
      runPlain(left + silent, right + silent, leftOut + silent, rightOut + silent, count &- silent)
    }
    wander.skip(max(0, count &- start))
  }

  /// Renders frames in which nothing moves and the echo is not from before the first frame.
  @_noLocks
  private mutating func runPlain(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ leftOut: UnsafeMutablePointer<Float>,
    _ rightOut: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    var echo = StereoEcho(
      feedback: feedback.value, mix: mix.value, crossing: crossing.value, limit: Self.limit,
      lowPass: lowPass.coefficient.value, highPass: highPass.coefficient.value, lowLeft: lowPass.state.x,
      lowRight: lowPass.state.y, highLeft: highPass.state.x, highRight: highPass.state.y)
    line.run(&echo, delay: Int(time.to), left, right, leftOut, rightOut, count: count)
    lowPass.state = SIMD2(echo.lowLeft, echo.lowRight)
    highPass.state = SIMD2(echo.highLeft, echo.highRight)
  }

  /// The echo of `frames` frames ago, and of what the wander adds.
  @inline(__always) @_noLocks
  private func read(_ frames: Int32, _ whole: Int, _ fraction: Float) -> SIMD2<Float> {
    let tap = Int(frames) &- 1 &+ whole
    return fraction == 0 || tap == 0 ? line.read(tap) : line.read(tap, fraction: fraction)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: value / 100, over: rampFrames)
    case .delayTime:
      freeTime = value
      moveTime(over: rampFrames)
    case .division:
      division = Int32(max(0, min(value, 100)) + 0.5)
      moveTime(over: rampFrames)
    case .tempo:
      tempo = max(1, min(value, 10_000))
      moveTime(over: rampFrames)
    case .wow: wander.setDepth(max(0, min(value / 100, 1)), over: rampFrames)
    case .ducking: ducker.setDepth(max(0, min(value, 96)), over: rampFrames)
    case .feedback: feedback.move(to: max(-1, min(value / 100, 1)), over: rampFrames)
    case .lowPassCutoff:
      lowPass.coefficient.move(to: OnePole.coefficient(cutoff: value, sampleRate: sampleRate), over: rampFrames)
    case .highPassCutoff:
      highPass.coefficient.move(to: OnePole.coefficient(cutoff: value, sampleRate: sampleRate), over: rampFrames)
    case .pingPong: crossing.move(to: value < 0.5 ? 0 : 1, over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  private mutating func moveTime(over rampFrames: Int32) {
    let beats = TempoDivision.beats(division)
    let wanted = beats > 0 ? beats * 60 / Double(tempo) : Double(freeTime)
    let seconds = max(0, min(wanted, Double(Self.longestTime)))
    time.move(to: max(1, Int32(seconds * sampleRate + 0.5)), over: rampFrames)
  }

  @_noLocks
  mutating func reset() {
    wander.reset()
    ducker.reset()
    line.clear()
    time.settle()
    mix.settle()
    feedback.settle()
    crossing.settle()
    lowPass.reset()
    highPass.reset()
  }

  /// The time until the echoes of a signal at the limit are below -140 dB, at most a minute.
  @_noLocks
  mutating func tail() -> Int64 {
    let loop = Double(max(feedback.value.magnitude, feedback.target.magnitude))
    let period = Double(time.largest) / sampleRate + (wander.isIdle ? 0 : TapeWander.longestTime)
    if loop >= 0.999_999 { return Tail.frames(Tail.longestSeconds, sampleRate: sampleRate) }
    // The first echo comes whole, each later one weaker by the feedback.
    let later = loop > 0 ? backline_floor(backline_log(1e-7 / Double(Self.limit)) / backline_log(loop)) + 1 : 0
    // Half a second more for the slowest filters.
    return Tail.frames(period * (1 + later) + 0.5, sampleRate: sampleRate)
  }

  /// True where nothing moves and the tap and the echoes' level stay.
  private var isPlain: Bool {
    @inline(__always) @_noLocks
    get {
      wander.isIdle && ducker.isIdle && time.isSettled && mix.isSettled && feedback.isSettled && crossing.isSettled
        && lowPass.coefficient.isSettled
        && highPass.coefficient.isSettled
    }
  }

  @inline(__always) @_noLocks
  private mutating func advance() {
    time.advance()
    mix.advance()
    feedback.advance()
    crossing.advance()
    lowPass.coefficient.advance()
    highPass.coefficient.advance()
  }

  /// One frame: takes the input and the echo that sounds now, writes what will sound, returns the output.
  /// `level` is how loud the echo is heard.
  @inline(__always) @_noLocks
  private mutating func step(_ input: SIMD2<Float>, _ echo: SIMD2<Float>, _ level: Float) -> SIMD2<Float> {
    let bounded = SIMD2(
      max(-Self.limit, min(echo.x, Self.limit)), max(-Self.limit, min(echo.y, Self.limit)))
    let back = highPass.highPass(lowPass.lowPass(bounded)) * feedback.value
    let across = SIMD2((input.x + input.y) * 0.5 + back.y, back.x)
    let cross = crossing.value
    line.write((input + back) * (1 - cross) + across * cross)
    return input * (1 - mix.value) + echo * (mix.value * level)
  }
}

@_noLocks
private func delayRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Delay.self).pointee.render(block.pointee)
}

@_noLocks
private func delaySet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Delay.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func delayReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Delay.self).pointee.reset()
}

@_noLocks
private func delayTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Delay.self).pointee.tail()
}
