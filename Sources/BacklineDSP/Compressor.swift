import BacklineRealtime
import CBackline

/// A compressor with a soft knee, look-ahead, and a side chain to be led by another signal.
///
/// The log-domain, smooth branching design of D. Giannoulis, M. Massberg and J. D. Reiss, "Digital Dynamic Range Compressor
/// Design", J. Audio Eng. Soc. 60 (2012): the level of the louder channel (its peak, or its RMS over 10 ms), the static curve,
/// then one smoother that attacks where the reduction grows and releases where it falls. Attack and release are that
/// smoother's time constants: in one of them the reduction covers 63 % of the way. The automatic make-up gain gives back half
/// of what a full-scale level loses, as that paper proposes. All is done per sample; loops without a state vectorise.
public struct Compressor: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case threshold, ratio, kneeWidth, attackTime, releaseTime, makeUpGain, automaticMakeUp, detector, lookAhead
    case wetDryMix, gainReduction
  }

  public static let description = UnitDescription(
    kind: "compressor", title: "Compressor",
    summary: "Makes loud passages softer; the side chain, where connected, decides instead of the input.",
    inputs: [.init("input"), .init("sidechain", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init("threshold", "The level above which it works.", -60...0, default: -20, measure: .decibels),
      .init(
        "ratio", "How many dB above the threshold become one.", 1...100, default: 4, measure: .ratio,
        taper: .logarithmic),
      .init(
        "kneeWidth", "The width of the bend around the threshold; 0 is a hard knee.", 0...40, default: 6,
        measure: .decibels),
      .init(
        "attackTime", "How fast it turns down: 63 % of the way in this time.", 0.000_1...1, default: 0.01,
        measure: .seconds, taper: .logarithmic),
      .init(
        "releaseTime", "How fast it turns up again: 63 % of the way in this time.", 0.005...5, default: 0.1,
        measure: .seconds, taper: .logarithmic),
      .init("makeUpGain", "How much louder the result gets.", -24...36, default: 0, measure: .decibels),
      .toggle(
        "automaticMakeUp", "Gives back half of what a full-scale level loses, on top of `makeUpGain`.", default: false),
      .discrete(
        "detector", "What counts as loud: peak catches every edge, rms goes by loudness, as ears do.", ["peak", "rms"]),
      .init(
        "lookAhead",
        "How much earlier it knows what is coming, so that a slow attack still catches the first edge; delays the signal.",
        0...longestLookAhead, default: 0, measure: .seconds, affectsLatency: true),
      .init(
        "wetDryMix", "How much of the output is compressed: below 100, the input runs in parallel.", 0...100,
        default: 100, measure: .percent),
      .reading("gainReduction", "How much it turns down now.", 0...240, default: 0, measure: .decibels),
    ],
    latency: { sampleRate, values in LookAhead.frames(values[Parameter.lookAhead.rawValue], sampleRate) },
    make: { UnitInstance(Compressor.self, $0) })

  public static let functions = UnitFunctions(
    render: compressorRender, set: compressorSet, reset: compressorReset, tail: compressorTail)

  private static var chunk: Int { @_noLocks get { 64 } }
  private static var longestLookAhead: Float { @_noLocks get { 0.02 } }

  private let gains: UnsafeMutablePointer<Float>
  private let reading: UnsafeMutablePointer<Float>
  private let sampleRate: Double
  private var threshold = Ramp(-20 / Self.decibelsPerOctave)
  private var slope = Ramp(0.75)
  private var knee = Ramp(6 / Self.decibelsPerOctave)
  private var attack: Ramp
  private var release: Ramp
  private var makeUp = Ramp(0)
  private var automatic = Ramp(0)
  private var rms = Ramp(0)
  private var mix = Ramp(1)
  private var smoother = ReductionSmoother()
  private var meanSquare: MeanSquare
  private var line: LookAhead

  private static var decibelsPerOctave: Float { @_noLocks get { CompressorCurve.decibelsPerOctave } }

  public init(_ format: UnitFormat) {
    // Vectors may write up to seven samples beyond the last.
    gains = SampleMemory.allocate(Self.chunk + 8)
    reading = format.readings + Parameter.gainReduction.rawValue
    sampleRate = format.sampleRate
    attack = Ramp(TimeConstant.coefficient(0.01, sampleRate: sampleRate))
    release = Ramp(TimeConstant.coefficient(0.1, sampleRate: sampleRate))
    meanSquare = MeanSquare(sampleRate: sampleRate)
    line = LookAhead(longest: Self.longestLookAhead, sampleRate: sampleRate)
  }

  deinit {
    SampleMemory.free(gains)
    line.deallocate()
  }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let key = block.isConnected(1) ? 1 : 0
    var offset = 0
    while offset < Int(block.frameCount) {
      let count = min(Self.chunk, Int(block.frameCount) &- offset)
      fillGains(block.input(key, 0) + offset, block.input(key, 1) + offset, count)
      apply(block, offset, count)
      offset &+= count
    }
    backline_store_float(reading, Float(smoother.reduction) * Self.decibelsPerOctave)
  }

  private var isSettled: Bool {
    @_noLocks get {
      threshold.isSettled && slope.isSettled && knee.isSettled && attack.isSettled && release.isSettled
        && makeUp.isSettled && automatic.isSettled && rms.isSettled
    }
  }

  private var curve: CompressorCurve {
    @inline(__always) @_noLocks get {
      CompressorCurve(threshold: threshold.value, knee: knee.value, slope: slope.value)
    }
  }

  /// What is added to the gain, in octaves.
  private var added: Float {
    @inline(__always) @_noLocks get { makeUp.value + 0.5 * automatic.value * curve.reduction(0) }
  }

  /// Computes the gain for each frame of a chunk.
  @_noLocks
  private mutating func fillGains(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ count: Int) {
    var start = 0
    while start < count && !isSettled {
      smoother.follow(
        curve.reduction(level(left[start], right[start])), attack: attack.value, release: release.value)
      gains[start] = added - Float(smoother.reduction)
      advance()
      start &+= 1
    }
    for frame in 0..<start { gains[frame] = FastMath.exp2(gains[frame]) }
    if start == count { return }
    if rms.value == 0 {
      var settings = curve.settings(added: added, attack: attack.value, release: release.value)
      backline_compressor_gains(
        left + start, right + start, gains + start, Int32(truncatingIfNeeded: count &- start), &settings,
        &smoother.reduction)
    } else {
      fillMeanGains(left, right, from: start, to: count)
    }
  }

  /// The gains of the frames from `start` to `end` by the RMS, where nothing moves.
  @_noLocks
  private mutating func fillMeanGains(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, from start: Int, to end: Int
  ) {
    let curve = curve, added = added, attack = attack.value, release = release.value
    for frame in start..<end { gains[frame] = curve.reduction(level(left[frame], right[frame])) }
    var local = smoother  // in registers, away from the stores
    for frame in start..<end {
      local.follow(gains[frame], attack: attack, release: release)
      gains[frame] = added - Float(local.reduction)
    }
    smoother = local
    for frame in start..<end { gains[frame] = FastMath.exp2(gains[frame]) }
  }

  /// The level of a frame by the detector chosen.
  @inline(__always) @_noLocks
  private mutating func level(_ left: Float, _ right: Float) -> Float {
    let peak = CompressorCurve.level(left, right)
    let mean = CompressorCurve.level(meanSquare: meanSquare.next(left, right))
    return peak + rms.value * (mean - peak)
  }

  @inline(__always) @_noLocks
  private mutating func advance() {
    threshold.advance()
    slope.advance()
    knee.advance()
    attack.advance()
    release.advance()
    makeUp.advance()
    automatic.advance()
    rms.advance()
    if rms.isSettled && rms.value == 0 { meanSquare.reset() }
  }

  @_noLocks
  private mutating func apply(_ block: borrowing RenderBlock, _ offset: Int, _ count: Int) {
    let left = block.input(0, 0) + offset, right = block.input(0, 1) + offset
    let leftOut = block.output(0, 0) + offset, rightOut = block.output(0, 1) + offset
    // Frame by frame up to the very frame at which the mix has settled, wherever the block was cut.
    var start = 0
    while start < count && !isWhole {
      let delayed = line.next(SIMD2(left[start], right[start]))
      let gain = 1 + mix.next() * (gains[start] - 1)
      leftOut[start] = delayed.x * gain
      rightOut[start] = delayed.y * gain
      start &+= 1
    }
    let rest = count &- start
    if rest <= 0 { return }
    if line.isIdle {
      line.note(left + start, right + start, rest)
      backline_multiply(leftOut + start, left + start, gains + start, Int64(rest))
      backline_multiply(rightOut + start, right + start, gains + start, Int64(rest))
      return
    }
    for frame in start..<count {
      let delayed = line.next(SIMD2(left[frame], right[frame]))
      leftOut[frame] = delayed.x * gains[frame]
      rightOut[frame] = delayed.y * gains[frame]
    }
  }

  /// True where nothing of the dry signal is mixed in.
  private var isWhole: Bool { @inline(__always) @_noLocks get { mix.isSettled && mix.value == 1 } }

  // MARK: Control

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .threshold: threshold.move(to: value / Self.decibelsPerOctave, over: frames)
    case .ratio: slope.move(to: 1 - 1 / max(1, value), over: frames)
    case .kneeWidth: knee.move(to: max(0, value) / Self.decibelsPerOctave, over: frames)
    case .attackTime: attack.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .releaseTime: release.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .makeUpGain: makeUp.move(to: value / Self.decibelsPerOctave, over: frames)
    case .automaticMakeUp: automatic.move(to: value < 0.5 ? 0 : 1, over: frames)
    case .detector: rms.move(to: value < 0.5 ? 0 : 1, over: frames)
    case .lookAhead: line.move(to: min(value, Self.longestLookAhead), over: frames)
    case .wetDryMix: mix.move(to: max(0, min(value, 100)) / 100, over: frames)
    case .gainReduction, nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    threshold.settle()
    slope.settle()
    knee.settle()
    attack.settle()
    release.settle()
    makeUp.settle()
    automatic.settle()
    rms.settle()
    mix.settle()
    smoother = ReductionSmoother()
    meanSquare.reset()
    line.reset()
    backline_store_float(reading, 0)
  }

  /// The frames until the gain has come to rest and the look-ahead has run empty. The output is silent before: what ends by
  /// then is the release, so that a pause in the input sounds the same whether it is rendered or skipped.
  @_noLocks
  func tail() -> Int64 {
    let slowest = min(release.value, release.target)
    let memory = meanSquare.tail()
    // An RMS detector goes on to ask for reduction while it forgets.
    let releasing = memory > 0 ? ReductionSmoother.longestTail(release: slowest) : smoother.tail(release: slowest)
    return max(memory &+ releasing, Int64(line.longest))
  }
}

@_noLocks
private func compressorRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Compressor.self).pointee.render(block.pointee)
}

@_noLocks
private func compressorSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Compressor.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func compressorReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Compressor.self).pointee.reset()
}

@_noLocks
private func compressorTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Compressor.self).pointee.tail()
}
