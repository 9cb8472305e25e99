import BacklineRealtime
import CBackline

/// Distortion by a static curve, from soft to fuzz, oversampled.
///
/// - Low-cut filter, drive, curve (`ShapingCurve`), removal of the offset that an uneven curve makes, high-cut filter, level.
/// - The curve works at 2, 4 or 8 times the sample rate between polyphase halfband filters (`Oversampler`) and is antialiased
///   in closed form (`Shaper.h`), so that even a tone of 5 kHz driven into a square wave has its aliases below
///   -80 dB at 8 times. The antialiasing takes 0.2 dB at 20 kHz at 8 times, 0.6 dB at 4 and 2.6 dB at 2 (48 kHz).
/// - The latency is that of the longest filters whatever the factor, so that it never changes; the dry part is as late.
/// - `curve` and `oversampling` are crossfaded.
public struct Distortion: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case curve, drive, asymmetry, lowCut, highCut, outputGain, wetDryMix, oversampling
  }

  public static let description = UnitDescription(
    kind: "distortion", title: "Distortion", summary: "Bends the wave: from a little warmth to fuzz.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .discrete(
        "curve",
        "How the wave is bent: soft and warm round it, diode gives way early, hard cuts it off, fuzz cuts one side harder, rectifier leaves one side out.",
        ShapingCurve.names),
      .init(
        "drive", "How hard the curve is hit: more is dirtier and sustains longer.", 0...60, default: 20,
        measure: .decibels),
      .init(
        "asymmetry", "Pushes the wave off the middle of the curve, for even harmonics as of a tube.", -100...100,
        default: 0, measure: .percent),
      .init(
        "lowCut", "What is below does not reach the curve: higher is tighter.", 20...1000, default: 80, measure: .hertz,
        taper: .logarithmic),
      .init(
        "highCut", "What is above is taken from the result: lower is darker.", 1000...20_000, default: 8000,
        measure: .hertz, taper: .logarithmic),
      .init("outputGain", "How loud the result is.", -48...12, default: -9, measure: .decibels),
      .init(
        "wetDryMix", "How much of the output is distorted: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
      .discrete(
        "oversampling", "How finely the curve works: more leaves fewer false tones and costs more.",
        ["2x", "4x", "8x"],
        default: 2),
    ],
    latency: { _, _ in Oversampler.latency },
    make: { UnitInstance(Distortion.self, $0) })

  public static let functions = UnitFunctions(
    render: distortionRender, set: distortionSet, reset: distortionReset, tail: distortionTail)

  /// What goes in is held to this, +60 dB.
  private static var limit: Float { @_noLocks get { 1000 } }

  private let sampleRate: Double
  private let pieces: UnsafeMutablePointer<Float>
  private var dryLine: StereoDelayLine
  private var lowCut = OnePole()
  private var highCut = OnePole()
  private var offset: OffsetBlocker
  private var drive = Ramp(10)
  private var bias = Ramp(0)
  private var level = Ramp(Decibels.gain(-9))
  private var mix = Ramp(1)
  /// Curve times 3 and the exponent of the factor, less 1.
  private var setting = Crossfade(2)
  private var curve: Int32 = 0
  private var factor: Int32 = 2
  /// The shaper of `setting.to`, and that of `setting.from`.
  private var shaper = OversampledShaper()
  private var fading = OversampledShaper()
  private var shaped: Int32 = 2

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    pieces = SampleMemory.allocate(7 * Oversampler.longestPiece)
    dryLine = StereoDelayLine(maximum: Oversampler.latency)
    lowCut.coefficient = Ramp(OnePole.coefficient(cutoff: 80, sampleRate: sampleRate))
    highCut.coefficient = Ramp(OnePole.coefficient(cutoff: 8000, sampleRate: sampleRate))
    offset = OffsetBlocker(cutoff: 10, sampleRate: sampleRate)
    shaper.restart(curve: 0, factor: 8, bias: 0)
  }

  deinit {
    SampleMemory.free(pieces)
    dryLine.deallocate()
    shaper.deallocate()
    fading.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    var start = 0
    while start < count {
      var length = min(count &- start, Oversampler.longestPiece)
      // A fade ends with a piece, so that the next one begins at its frame however the signal is cut.
      if !setting.isSettled { length = min(length, setting.remaining) }
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
    let biases = pieces, leftIn = pieces + stride, rightIn = pieces + 2 &* stride
    let leftWet = pieces + 3 &* stride, rightWet = pieces + 4 &* stride
    let leftOld = pieces + 5 &* stride, rightOld = pieces + 6 &* stride
    for i in 0..<max(0, count) {
      let bounded = SIMD2(
        max(-Self.limit, min(left[i], Self.limit)), max(-Self.limit, min(right[i], Self.limit)))
      let driven = lowCut.highPass(bounded) * drive.next()
      lowCut.coefficient.advance()
      leftIn[i] = driven.x
      rightIn[i] = driven.y
      biases[i] = bias.next()
    }
    let isFading = !setting.isSettled
    shaper.process(leftIn, rightIn, bias: biases, leftWet, rightWet, count: count)
    if isFading { fading.process(leftIn, rightIn, bias: biases, leftOld, rightOld, count: count) }
    for i in 0..<max(0, count) {
      var wet = SIMD2(leftWet[i], rightWet[i])
      if isFading {
        let old = SIMD2(leftOld[i], rightOld[i])
        wet = old + (wet - old) * setting.weight
        setting.advance()
      }
      wet = highCut.lowPass(offset.next(wet)) * level.next()
      highCut.coefficient.advance()
      let input = SIMD2(left[i], right[i])
      dryLine.write(input)
      let dry = dryLine.read(Oversampler.latency)
      let weight = mix.next()
      let output = dry * (1 - weight) + wet * weight
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
    if isFading { follow() }
  }

  /// Takes the shaper along to a new setting.
  @_noLocks
  private mutating func follow() {
    if setting.to == shaped { return }
    shaped = setting.to
    let now = shaper
    shaper = fading
    fading = now
    shaper.restart(curve: shaped / 3, factor: 2 &<< Int(shaped % 3), bias: bias.value)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .curve:
      curve = Int32(max(0, min(value, Float(5))) + 0.5)
      setting.move(to: curve &* 3 &+ factor, over: rampFrames)
      follow()
    case .oversampling:
      factor = Int32(max(0, min(value, 2)) + 0.5)
      setting.move(to: curve &* 3 &+ factor, over: rampFrames)
      follow()
    case .drive: drive.move(to: Decibels.gain(min(value, 80)), over: rampFrames)
    case .asymmetry: bias.move(to: max(-1, min(value / 100, 1)), over: rampFrames)
    case .lowCut:
      lowCut.coefficient.move(to: OnePole.coefficient(cutoff: value, sampleRate: sampleRate), over: rampFrames)
    case .highCut:
      highCut.coefficient.move(to: OnePole.coefficient(cutoff: value, sampleRate: sampleRate), over: rampFrames)
    case .outputGain: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    drive.settle()
    bias.settle()
    level.settle()
    mix.settle()
    setting.settle()
    lowCut.reset()
    highCut.reset()
    offset.clear()
    dryLine.clear()
    follow()
    shaper.restart(curve: shaped / 3, factor: 2 &<< Int(shaped % 3), bias: bias.value)
  }

  /// The time that the slowest filters need for the loudest input.
  @_noLocks
  func tail() -> Int64 { Tail.frames(0.8, sampleRate: sampleRate) &+ Int64(Oversampler.latency) }
}

@_noLocks
private func distortionRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Distortion.self).pointee.render(block.pointee)
}

@_noLocks
private func distortionSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Distortion.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func distortionReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Distortion.self).pointee.reset()
}

@_noLocks
private func distortionTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Distortion.self).pointee.tail()
}
