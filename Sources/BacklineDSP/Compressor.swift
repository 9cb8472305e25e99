import BacklineRealtime
import CBackline

/// A compressor with a soft knee, and a side chain to be led by another signal.
///
/// The log-domain, smooth branching design of D. Giannoulis, M. Massberg and J. D. Reiss, "Digital Dynamic Range Compressor
/// Design", J. Audio Eng. Soc. 60 (2012): the peak of both channels, its level, the static curve, then one smoother that
/// attacks where the reduction grows and releases where it falls. Attack and release are that smoother's time constants: in
/// one of them the reduction covers 63 % of the way. All is done per sample; loops without a state vectorise.
public struct Compressor: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case threshold, ratio, kneeWidth, attackTime, releaseTime, makeUpGain, gainReduction
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
      .reading("gainReduction", "How much it turns down now.", 0...240, default: 0, measure: .decibels),
    ],
    make: { UnitInstance(Compressor.self, $0) })

  public static let functions = UnitFunctions(
    render: compressorRender, set: compressorSet, reset: compressorReset, tail: compressorTail)

  private static var chunk: Int { @_noLocks get { 64 } }

  private let gains: UnsafeMutablePointer<Float>
  private let reading: UnsafeMutablePointer<Float>
  private let sampleRate: Float
  private var threshold = Ramp(-20 / Self.decibelsPerOctave)
  private var slope = Ramp(0.75)
  private var knee = Ramp(6 / Self.decibelsPerOctave)
  private var attack: Ramp
  private var release: Ramp
  private var makeUp = Ramp(0)
  private var smoother = ReductionSmoother()

  private static var decibelsPerOctave: Float { @_noLocks get { CompressorCurve.decibelsPerOctave } }

  public init(_ format: UnitFormat) {
    gains = SampleMemory.allocate(Self.chunk)
    reading = format.readings + Parameter.gainReduction.rawValue
    sampleRate = Float(format.sampleRate)
    attack = Ramp(Self.coefficient(0.01, sampleRate))
    release = Ramp(Self.coefficient(0.1, sampleRate))
  }

  deinit { SampleMemory.free(gains) }

  /// The part of the way that a one-pole smoother of this time constant goes in a frame.
  @_noLocks
  private static func coefficient(_ seconds: Float, _ sampleRate: Float) -> Float {
    Float(1 - backline_exp(-1 / (Double(max(seconds, 1e-5)) * Double(sampleRate))))
  }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let key = block.isConnected(1) ? 1 : 0
    var offset = 0
    while offset < Int(block.frameCount) {
      let count = min(Self.chunk, Int(block.frameCount) &- offset)
      fillGains(block.input(key, 0) + offset, block.input(key, 1) + offset, count)
      apply(block.input(0, 0) + offset, block.output(0, 0) + offset, count)
      apply(block.input(0, 1) + offset, block.output(0, 1) + offset, count)
      offset &+= count
    }
    backline_store_float(reading, Float(smoother.reduction) * Self.decibelsPerOctave)
  }

  private var isSettled: Bool {
    @_noLocks get {
      threshold.isSettled && slope.isSettled && knee.isSettled && attack.isSettled && release.isSettled
        && makeUp.isSettled
    }
  }

  private var curve: CompressorCurve {
    @inline(__always) @_noLocks get {
      CompressorCurve(threshold: threshold.value, knee: knee.value, slope: slope.value)
    }
  }

  /// Computes the gain for each frame of a chunk.
  @_noLocks
  private mutating func fillGains(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ count: Int) {
    var start = 0
    while start < count && !isSettled {
      smoother.follow(curve.reduction(left[start], right[start]), attack: attack.value, release: release.value)
      gains[start] = makeUp.value - Float(smoother.reduction)
      threshold.advance()
      slope.advance()
      knee.advance()
      attack.advance()
      release.advance()
      makeUp.advance()
      start &+= 1
    }
    let curve = curve
    for frame in start..<max(start, count) { gains[frame] = curve.reduction(left[frame], right[frame]) }
    var local = smoother  // in registers, away from the stores
    let attack = attack.value, release = release.value, makeUp = makeUp.value
    for frame in start..<max(start, count) {
      local.follow(gains[frame], attack: attack, release: release)
      gains[frame] = makeUp - Float(local.reduction)
    }
    smoother = local
    for frame in 0..<max(0, count) { gains[frame] = FastMath.exp2(gains[frame]) }
  }

  @_noLocks
  private func apply(_ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ count: Int) {
    for frame in 0..<max(0, count) { output[frame] = input[frame] * gains[frame] }
  }

  // MARK: Control

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch parameter {
    case Parameter.threshold.rawValue: threshold.move(to: value / Self.decibelsPerOctave, over: rampFrames)
    case Parameter.ratio.rawValue: slope.move(to: 1 - 1 / max(1, value), over: rampFrames)
    case Parameter.kneeWidth.rawValue: knee.move(to: max(0, value) / Self.decibelsPerOctave, over: rampFrames)
    case Parameter.attackTime.rawValue: attack.move(to: Self.coefficient(value, sampleRate), over: rampFrames)
    case Parameter.releaseTime.rawValue: release.move(to: Self.coefficient(value, sampleRate), over: rampFrames)
    case Parameter.makeUpGain.rawValue: makeUp.move(to: value / Self.decibelsPerOctave, over: rampFrames)
    default: break
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
    smoother = ReductionSmoother()
    backline_store_float(reading, 0)
  }

  /// The frames until the gain has come to rest. The output is silent before: what ends by then is the release, so that a
  /// pause in the input sounds the same whether it is rendered or skipped.
  @_noLocks
  func tail() -> Int64 { smoother.tail(release: min(release.value, release.target)) }
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
