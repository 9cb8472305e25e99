import BacklineRealtime
import CBackline

/// The saturation of a tape machine.
///
/// - `drive` into the hysteresis of the tape (`TapeHysteresis`), at 4 times the sample rate, 8 times below 46 kHz; then the playback head: its bump
///   at the wavelength of its length, 5 mm, and the loss by the distance between tape and head, of which the first-order
///   filter with the same -3 dB point is taken (Wallace, "The reproduction of magnetically recorded signals", Bell System Tech.
///   J. 30, 1951; 1 µm). Both go with the tape's speed.
/// - The latency is that of `Oversampler`; the dry part is as late.
public struct Saturation: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case drive, bias, speed, outputGain, wetDryMix }

  public static let description = UnitDescription(
    kind: "saturation", title: "Saturation", summary: "Warms and glues as a tape machine does.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "drive", "How hot the tape is recorded: more is denser and softer at the peaks.", -12...36, default: 6,
        measure: .decibels),
      .init(
        "bias", "How well the machine is set up: low is underbiased, gritty and grainy.", 0...100, default: 85,
        measure: .percent),
      .discrete(
        "speed", "The tape's speed in inches a second: slower is darker, with a deeper bump in the bass.",
        ["7.5", "15", "30"], default: 1),
      .init("outputGain", "How loud the result is.", -48...12, default: -3, measure: .decibels),
      .init(
        "wetDryMix", "How much of the output comes off the tape: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
    ],
    latency: { _, _ in Oversampler.latency },
    make: { UnitInstance(Saturation.self, $0) })

  public static let functions = UnitFunctions(
    render: saturationRender, set: saturationSet, reset: saturationReset, tail: saturationTail)

  private static var limit: Float { @_noLocks get { 1000 } }

  private let sampleRate: Double
  /// How many times the sample rate the tape runs at: so that aliases of high tones stay below -80 dB.
  private let factor: Int
  private let pieces: UnsafeMutablePointer<Float>
  private var left = Oversampler()
  private var right = Oversampler()
  private var tape = TapeHysteresis()
  private var heldLeft: Float = 0
  private var heldRight: Float = 0
  private var dryLine: StereoDelayLine
  private var drive = Ramp(Decibels.gain(6))
  private var reversible = Ramp(Saturation.reversible(85))
  private var level = Ramp(Decibels.gain(-3))
  private var mix = Ramp(1)
  private var offset: OffsetBlocker
  private var loss = OnePole()
  private var bump = OnePole()
  private var bumpTop = OnePole()

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    factor = format.sampleRate < 46_000 ? 8 : 4
    pieces = SampleMemory.allocate(5 * Oversampler.longestPiece)
    dryLine = StereoDelayLine(maximum: Oversampler.latency)
    offset = OffsetBlocker(cutoff: 10, sampleRate: sampleRate)
    setSpeed(1, over: 0)
  }

  deinit {
    SampleMemory.free(pieces)
    left.deallocate()
    right.deallocate()
    dryLine.deallocate()
  }

  @_noLocks
  private static func reversible(_ percent: Float) -> Float { 0.2 + 0.78 * max(0, min(percent / 100, 1)) }

  @_noLocks
  private mutating func setSpeed(_ index: Float, over rampFrames: Int32) {
    let metres: Float = index < 0.5 ? 0.1905 : index < 1.5 ? 0.381 : 0.762
    // exp(-2π f d / v) is -3 dB at f = 0.3466 v / (2π d).
    let cutoff = 0.346_57 * metres / (2 * .pi * 1e-6)
    loss.coefficient.move(to: OnePole.coefficient(cutoff: cutoff, sampleRate: sampleRate), over: rampFrames)
    let bumpFrequency = metres / 0.005
    bump.coefficient.move(
      to: OnePole.coefficient(cutoff: bumpFrequency * 0.7, sampleRate: sampleRate), over: rampFrames)
    bumpTop.coefficient.move(
      to: OnePole.coefficient(cutoff: bumpFrequency * 1.4, sampleRate: sampleRate), over: rampFrames)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    var start = 0
    while start < count {
      let length = min(count &- start, Oversampler.longestPiece)
      renderPiece(
        block.input(0, 0) + start, block.input(0, 1) + start, block.output(0, 0) + start, block.output(0, 1) + start,
        length)
      start &+= length
    }
  }

  @_noLocks
  private mutating func renderPiece(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ leftOut: UnsafeMutablePointer<Float>,
    _ rightOut: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    let stride = Oversampler.longestPiece
    let shares = pieces, leftIn = pieces + stride, rightIn = pieces + 2 &* stride
    let leftWet = pieces + 3 &* stride, rightWet = pieces + 4 &* stride
    for i in 0..<max(0, count) {
      let gain = drive.next()
      leftIn[i] = max(-Self.limit, min(left[i], Self.limit)) * gain
      rightIn[i] = max(-Self.limit, min(right[i], Self.limit)) * gain
      shares[i] = reversible.next()
    }
    self.left.up(leftIn, factor: factor, count: count)
    self.right.up(rightIn, factor: factor, count: count)
    magnetise(shares, count)
    self.left.down(leftWet, factor: factor, count: count)
    self.right.down(rightWet, factor: factor, count: count)
    for i in 0..<max(0, count) {
      var wet = loss.lowPass(offset.next(SIMD2(leftWet[i], rightWet[i])))
      // What lies around the bump, once more: +2.5 dB at its middle.
      wet += bumpTop.lowPass(bump.highPass(wet)) * 0.5
      loss.coefficient.advance()
      bump.coefficient.advance()
      bumpTop.coefficient.advance()
      wet *= level.next()
      let input = SIMD2(left[i], right[i])
      dryLine.write(input)
      let dry = dryLine.read(Oversampler.latency)
      let weight = mix.next()
      let output = dry * (1 - weight) + wet * weight
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  private mutating func magnetise(_ shares: UnsafePointer<Float>, _ count: Int) {
    var local = tape
    for frame in 0..<max(0, count) {
      for i in frame &* factor..<(frame &+ 1) &* factor {
        let field = backline_stereo_load(left.samples + i, right.samples + i)
        backline_stereo_store(
          local.next(field, reversible: Double(shares[frame])), left.samples + i, right.samples + i)
      }
    }
    tape = local
    // The shaper's frame of delay that the oversampler reckons with.
    heldLeft = Self.delayByOne(left.samples, heldLeft, count &* factor)
    heldRight = Self.delayByOne(right.samples, heldRight, count &* factor)
  }

  /// Delays by a frame that starts with `held`; returns the last one.
  @_noLocks
  private static func delayByOne(_ samples: UnsafeMutablePointer<Float>, _ held: Float, _ count: Int) -> Float {
    var held = held
    for i in 0..<max(0, count) {
      let next = samples[i]
      samples[i] = held
      held = next
    }
    return held
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .drive: drive.move(to: Decibels.gain(min(value, 60)), over: rampFrames)
    case .bias: reversible.move(to: Self.reversible(value), over: rampFrames)
    case .speed: setSpeed(value, over: rampFrames)
    case .outputGain: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    drive.settle()
    reversible.settle()
    level.settle()
    mix.settle()
    offset.clear()
    loss.reset()
    bump.reset()
    bumpTop.reset()
    left.clear()
    right.clear()
    heldLeft = 0
    heldRight = 0
    tape = TapeHysteresis()
    dryLine.clear()
  }

  /// The time that the slowest filters need for the loudest input.
  @_noLocks
  func tail() -> Int64 { Tail.frames(0.8, sampleRate: sampleRate) &+ Int64(Oversampler.latency) }
}

@_noLocks
private func saturationRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Saturation.self).pointee.render(block.pointee)
}

@_noLocks
private func saturationSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Saturation.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func saturationReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Saturation.self).pointee.reset()
}

@_noLocks
private func saturationTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Saturation.self).pointee.tail()
}
