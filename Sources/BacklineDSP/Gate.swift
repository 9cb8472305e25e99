import BacklineRealtime
import CBackline

/// A gate and downward expander with hysteresis, hold, and a filtered side chain.
///
/// - The level is the peak of both channels of the last 10 ms, after the side chain's filters.
/// - At or above the threshold the gate opens. It closes when the level has been more than the hysteresis below the
///   threshold for the hold time. Closed, it turns down what is below the threshold by `ratio - 1` dB a dB, at most by the
///   range: the expander's static curve in U. Zölzer (ed.), "DAFX: Digital Audio Effects", 2nd ed., 2011, chapter 4.2.
/// - The gain goes to its place in decibels by one-pole smoothing: attack where it opens, release where it closes, 63 % of
///   the way in the time given. With look-ahead it opens before what opened it is heard.
public struct Gate: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case threshold, hysteresis, ratio, range, attackTime, holdTime, releaseTime, lookAhead
    case sidechainHighPass, sidechainLowPass, sidechainListen, gainReduction
  }

  public static let description = UnitDescription(
    kind: "gate", title: "Gate",
    summary: "Turns down what is below a threshold: hum, hiss and spill between the notes.",
    inputs: [.init("input"), .init("sidechain", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init("threshold", "The level at which it opens.", -96...0, default: -45, measure: .decibels),
      .init(
        "hysteresis", "How far below the threshold the level has to fall before it closes; stops it from chattering.",
        0...30, default: 6, measure: .decibels),
      .init(
        "ratio", "How many dB one dB below the threshold becomes: 2 is a gentle expander, 100 a hard gate.", 1...100,
        default: 10, measure: .ratio, taper: .logarithmic),
      .init(
        "range", "How much it turns down at most; at the top of the range, all.", 0...96, default: 60,
        measure: .decibels),
      .init(
        "attackTime", "How fast it opens: 63 % of the way in this time.", 0.000_05...0.5, default: 0.001,
        measure: .seconds, taper: .logarithmic),
      .init(
        "holdTime", "How long it stays open after the level has fallen.", 0...2, default: 0.05, measure: .seconds,
        taper: .quadratic),
      .init(
        "releaseTime", "How fast it closes: 63 % of the way in this time.", 0.005...5, default: 0.1,
        measure: .seconds, taper: .logarithmic),
      .init(
        "lookAhead", "How much earlier it opens, for the first edge of a drum; delays the signal by as much.",
        0...longestLookAhead, default: 0, measure: .seconds, affectsLatency: true),
      .init(
        "sidechainHighPass",
        "What decides is heard without what is below: keeps the kick out of the snare's gate. Off at the bottom.",
        20...5000, default: 20, measure: .hertz, taper: .logarithmic),
      .init(
        "sidechainLowPass",
        "What decides is heard without what is above: keeps the cymbals out of the kick's gate. Off at the top.",
        200...20_000, default: 20_000, measure: .hertz, taper: .logarithmic),
      .toggle("sidechainListen", "Lets one hear what decides, filtered, to find the frequencies.", default: false),
      .reading("gainReduction", "How much it turns down now.", 0...240, default: 0, measure: .decibels),
    ],
    latency: { sampleRate, values in LookAhead.frames(values[Parameter.lookAhead.rawValue], sampleRate) },
    make: { UnitInstance(Gate.self, $0) })

  public static let functions = UnitFunctions(
    render: gateRender, set: gateSet, reset: gateReset, tail: gateTail)

  private static var longestLookAhead: Float { @_noLocks get { 0.01 } }
  private static var windowSeconds: Double { @_noLocks get { 0.01 } }
  private static var decibelsPerOctave: Float { @_noLocks get { CompressorCurve.decibelsPerOctave } }
  /// The reduction that stands for silence, in octaves.
  private static var silent: Float { @_noLocks get { 40 } }

  private let sampleRate: Double
  private let reading: UnsafeMutablePointer<Float>
  private var line: LookAhead
  private var largest: SlidingMaximum
  private var highPass = OnePole()
  private var lowPass = OnePole()
  private var threshold = Ramp(-45 / Self.decibelsPerOctave)
  private var hysteresis = Ramp(6 / Self.decibelsPerOctave)
  private var slope = Ramp(9)
  private var range = Ramp(60 / Self.decibelsPerOctave)
  private var attack: Ramp
  private var release: Ramp
  private var listen = Ramp(0)
  private var holdFrames: Int64
  private var isOpen = false
  private var held: Int64 = 0
  /// In octaves.
  private var reduction: Double

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    reading = format.readings + Parameter.gainReduction.rawValue
    line = LookAhead(longest: Self.longestLookAhead, sampleRate: sampleRate)
    largest = SlidingMaximum(length: Int(Self.windowSeconds * sampleRate))
    lowPass.coefficient = Ramp(1)
    attack = Ramp(TimeConstant.coefficient(0.001, sampleRate: sampleRate))
    release = Ramp(TimeConstant.coefficient(0.1, sampleRate: sampleRate))
    holdFrames = Int64(0.05 * sampleRate + 0.5)
    reduction = Double(range.value)
    storeReading()
  }

  deinit {
    line.deallocate()
    largest.deallocate()
  }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let key = block.isConnected(1) ? 1 : 0
    let keyLeft = block.input(key, 0), keyRight = block.input(key, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let decisive = lowPass.lowPass(
        highPass.highPass(SIMD2(Self.bounded(keyLeft[frame]), Self.bounded(keyRight[frame]))))
      let factor = FastMath.exp2(-follow(decisive))
      let delayed = line.next(SIMD2(left[frame], right[frame]))
      let heard = listen.next()
      leftOut[frame] = delayed.x * factor + heard * (decisive.x - delayed.x * factor)
      rightOut[frame] = delayed.y * factor + heard * (decisive.y - delayed.y * factor)
      highPass.coefficient.advance()
      lowPass.coefficient.advance()
    }
    storeReading()
  }

  @_noLocks
  private func storeReading() { backline_store_float(reading, Float(reduction) * Self.decibelsPerOctave) }

  @inline(__always) @_noLocks
  private static func bounded(_ x: Float) -> Float { x > -1e6 ? (x < 1e6 ? x : 1e6) : -1e6 }

  /// Takes what decides; returns the reduction in octaves.
  @inline(__always) @_noLocks
  private mutating func follow(_ key: SIMD2<Float>) -> Float {
    let a = abs(key.x), b = abs(key.y)
    let peak = largest.next(a > b ? a : b)
    let below = threshold.next() - FastMath.log2(peak > 1e-6 ? peak : 1e-6)
    let hysteresis = hysteresis.next()
    if below <= 0 {
      isOpen = true
      held = 0
    } else if isOpen && below > hysteresis {
      held &+= 1
      if held > holdFrames { isOpen = false }
    } else {
      held = 0
    }
    let most = range.next()
    let closed = below > 0 ? min(below * slope.value, most) : 0
    slope.advance()
    let wanted = Double(isOpen ? 0 : closed)
    let distance = wanted - reduction
    reduction += distance * Double(distance < 0 ? attack.value : release.value)
    // At rest it is exactly that of a reset.
    if abs(distance) < 1e-6 { reduction = wanted }
    attack.advance()
    release.advance()
    return Float(reduction)
  }

  // MARK: Control

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .threshold: threshold.move(to: max(-110, min(value, 60)) / Self.decibelsPerOctave, over: frames)
    case .hysteresis: hysteresis.move(to: max(0, min(value, 60)) / Self.decibelsPerOctave, over: frames)
    case .ratio: slope.move(to: max(1, min(value, 1000)) - 1, over: frames)
    case .range:
      range.move(to: value >= 96 ? Self.silent : max(0, value) / Self.decibelsPerOctave, over: frames)
    case .attackTime: attack.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .holdTime: holdFrames = Int64(Double(max(0, min(value, 10))) * sampleRate + 0.5)
    case .releaseTime: release.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .lookAhead: line.move(to: min(value, Self.longestLookAhead), over: frames)
    case .sidechainHighPass:
      let cutoff = value > 20 ? value : 0
      highPass.coefficient.move(to: OnePole.coefficient(cutoff: cutoff, sampleRate: sampleRate), over: frames)
    case .sidechainLowPass:
      let coefficient = value < 20_000 ? OnePole.coefficient(cutoff: value, sampleRate: sampleRate) : 1
      lowPass.coefficient.move(to: coefficient, over: frames)
    case .sidechainListen: listen.move(to: value < 0.5 ? 0 : 1, over: frames)
    case .gainReduction, nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    line.reset()
    largest.reset()
    highPass.reset()
    lowPass.reset()
    threshold.settle()
    hysteresis.settle()
    slope.settle()
    range.settle()
    attack.settle()
    release.settle()
    listen.settle()
    isOpen = false
    held = 0
    reduction = Double(min((threshold.value - FastMath.log2(1e-6)) * slope.value, range.value))
    if !(reduction > 0) { reduction = 0 }
    storeReading()
  }

  /// The frames until the gate has closed for good: window, filters, hold, release.
  @_noLocks
  func tail() -> Int64 {
    let slowest = Double(min(release.value, release.target))
    let closing = backline_log(1e-7 / 40) / backline_log(1 - slowest)
    let filters = 0.5 * sampleRate
    return Int64(Self.windowSeconds * sampleRate + filters) &+ holdFrames &+ Int64(min(closing, 1e12))
      &+ Int64(line.longest) &+ 2
  }
}

@_noLocks
private func gateRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Gate.self).pointee.render(block.pointee)
}

@_noLocks
private func gateSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Gate.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func gateReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Gate.self).pointee.reset()
}

@_noLocks
private func gateTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Gate.self).pointee.tail()
}
