import BacklineRealtime
import CBackline

/// Two to four compressors, each for a band of its own, whose sum is flat where none of them works.
///
/// The bands are those of Linkwitz-Riley crossovers (`BandSplitter`), each compressor is the log-domain one of `Compressor`
/// with the peak of both channels. With nothing to compress, the output is the input with the phase of the crossovers.
public struct MultibandCompressor: ProcessingUnit, ~Copyable {
  /// The parameters of a band, in their order.
  enum Band: Int, CaseIterable { case threshold, ratio, attackTime, releaseTime, gain }

  public static let description = UnitDescription(
    kind: "multibandCompressor", title: "Multiband Compressor",
    summary: "Compresses bass, middle and treble each on their own, so that a kick does not duck the cymbals.",
    inputs: [.init("input"), .init("sidechain", isOptional: true)], outputs: [.init("output")],
    parameters: BandSplitter.parameters(bands: 3) + [
      .init(
        "kneeWidth", "The width of the bend around every threshold; 0 is a hard knee.", 0...40, default: 6,
        measure: .decibels),
      .init(
        "wetDryMix", "How much of the output is compressed: below 100, the bands run in parallel as they came.",
        0...100,
        default: 100, measure: .percent),
    ] + (1...4).flatMap { Self.parameters(band: $0) }
      + (1...4).map {
        .reading(
          "band\($0)GainReduction", "How much it turns band \($0) down now.", 0...240, default: 0, measure: .decibels)
      },
    make: { UnitInstance(MultibandCompressor.self, $0) })

  private static func parameters(band: Int) -> [ParameterDescription] {
    Band.allCases.map { parameter in
      switch parameter {
      case .threshold:
        .init(
          "band\(band)Threshold", "The level above which band \(band) is compressed.", -60...0, default: -20,
          measure: .decibels)
      case .ratio:
        .init(
          "band\(band)Ratio", "How many dB above the threshold become one in band \(band); 1 leaves the band alone.",
          1...100,
          default: 3, measure: .ratio, taper: .logarithmic)
      case .attackTime:
        .init(
          "band\(band)AttackTime", "How fast band \(band) is turned down: 63 % of the way in this time.", 0.000_1...1,
          default: 0.01, measure: .seconds, taper: .logarithmic)
      case .releaseTime:
        .init(
          "band\(band)ReleaseTime", "How fast band \(band) is turned up again: 63 % of the way in this time.",
          0.005...5,
          default: 0.1, measure: .seconds, taper: .logarithmic)
      case .gain:
        .init(
          "band\(band)Gain", "How much louder band \(band) gets; at the bottom of the range, silent.", -96...24,
          default: 0,
          measure: .decibels)
      }
    }
  }

  public static let functions = UnitFunctions(
    render: multibandCompressorRender, set: multibandCompressorSet, reset: multibandCompressorReset,
    tail: multibandCompressorTail)

  private enum Common: Int {
    case bands, crossover1Frequency, crossover2Frequency, crossover3Frequency, kneeWidth, wetDryMix
  }

  private static var firstBandParameter: Int { @_noLocks get { 6 } }
  private static var parametersPerBand: Int { @_noLocks get { 5 } }
  private static var bandCount: Int { @_noLocks get { BandSplitter.mostBands } }

  /// The compressor of one band; levels in octaves.
  private struct Channel {
    var threshold = Ramp(-20 / CompressorCurve.decibelsPerOctave)
    var slope = Ramp(1 - 1 / Float(3))
    var attack: Ramp
    var release: Ramp
    var gain = Ramp(1)
    var smoother = ReductionSmoother()

    @_noLocks
    init(sampleRate: Double) {
      attack = Ramp(TimeConstant.coefficient(0.01, sampleRate: sampleRate))
      release = Ramp(TimeConstant.coefficient(0.1, sampleRate: sampleRate))
    }

    /// Takes what decides; returns the factor for the band.
    @inline(__always) @_noLocks
    mutating func next(_ key: SIMD2<Double>, knee: Float, mix: Float) -> Double {
      let curve = CompressorCurve(threshold: threshold.value, knee: knee, slope: slope.value)
      smoother.follow(curve.reduction(Float(key.x), Float(key.y)), attack: attack.value, release: release.value)
      let reduced = FastMath.exp2(-Float(smoother.reduction)) * gain.value
      threshold.advance()
      slope.advance()
      attack.advance()
      release.advance()
      gain.advance()
      return Double(1 + mix * (reduced - 1))
    }

    @_noLocks
    mutating func reset() {
      threshold.settle()
      slope.settle()
      attack.settle()
      release.settle()
      gain.settle()
      smoother = ReductionSmoother()
    }
  }

  private let sampleRate: Double
  private let readings: UnsafeMutablePointer<Float>
  private var splitter: FadingSplitter
  private var keySplitter: FadingSplitter
  private var knee = Ramp(6 / CompressorCurve.decibelsPerOctave)
  private var mix = Ramp(1)
  private var channels: InlineArray<4, Channel>

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    readings = format.readings + Self.firstBandParameter + Self.bandCount * Self.parametersPerBand
    splitter = FadingSplitter(count: 3, sampleRate: format.sampleRate)
    keySplitter = splitter
    channels = InlineArray(repeating: Channel(sampleRate: format.sampleRate))
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let hasKey = block.isConnected(1)
    let keyLeft = block.input(1, 0), keyRight = block.input(1, 1)
    var bands = InlineArray<4, SIMD2<Double>>(repeating: .zero)
    var keys = InlineArray<4, SIMD2<Double>>(repeating: .zero)
    for frame in 0..<max(0, Int(block.frameCount)) {
      splitter.split(backline_stereo_load(left + frame, right + frame), &bands)
      if hasKey { keySplitter.split(backline_stereo_load(keyLeft + frame, keyRight + frame), &keys) }
      let knee = knee.next(), mix = mix.next()
      var sum = SIMD2<Double>.zero
      for band in 0..<Self.bandCount {
        let factor = channels[band].next(hasKey ? keys[band] : bands[band], knee: knee, mix: mix)
        sum = backline_stereo_add(sum, backline_stereo_scale(bands[band], factor))
      }
      backline_stereo_store(backline_stereo_limit(sum), leftOut + frame, rightOut + frame)
    }
    storeReadings()
  }

  @_noLocks
  private func storeReadings() {
    for band in 0..<Self.bandCount {
      backline_store_float(
        readings + band, Float(channels[band].smoother.reduction) * CompressorCurve.decibelsPerOctave)
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Common(rawValue: parameter) {
    case .bands:
      splitter.setCount(value, over: frames)
      keySplitter.setCount(value, over: frames)
    case .crossover1Frequency, .crossover2Frequency, .crossover3Frequency:
      splitter.setFrequency(parameter &- 1, value, over: frames)
      keySplitter.setFrequency(parameter &- 1, value, over: frames)
    case .kneeWidth: knee.move(to: max(0, min(value, 96)) / CompressorCurve.decibelsPerOctave, over: frames)
    case .wetDryMix: mix.move(to: max(0, min(value, 100)) / 100, over: frames)
    case nil:
      let index = parameter &- Self.firstBandParameter
      if index >= 0 && index < Self.bandCount * Self.parametersPerBand {
        setBand(index / Self.parametersPerBand, index % Self.parametersPerBand, value, frames)
      }
    }
  }

  @_noLocks
  private mutating func setBand(_ band: Int, _ parameter: Int, _ value: Float, _ frames: Int32) {
    switch Band(rawValue: parameter) {
    case .threshold: channels[band].threshold.move(to: value / CompressorCurve.decibelsPerOctave, over: frames)
    case .ratio: channels[band].slope.move(to: 1 - 1 / max(1, value), over: frames)
    case .attackTime:
      channels[band].attack.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .releaseTime:
      channels[band].release.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .gain: channels[band].gain.move(to: Decibels.gain(min(value, 24)), over: frames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    splitter.reset()
    keySplitter.reset()
    knee.settle()
    mix.settle()
    for band in 0..<Self.bandCount { channels[band].reset() }
    storeReadings()
  }

  /// The frames until the crossovers are silent and every gain has come to rest.
  @_noLocks
  func tail() -> Int64 {
    var releasing: Int64 = 0
    for band in 0..<Self.bandCount {
      let slowest = min(channels[band].release.value, channels[band].release.target)
      releasing = max(releasing, channels[band].smoother.tail(release: slowest))
    }
    return max(splitter.tail(), keySplitter.tail()) &+ releasing
  }
}

@_noLocks
private func multibandCompressorRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: MultibandCompressor.self).pointee.render(block.pointee)
}

@_noLocks
private func multibandCompressorSet(
  _ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32
) {
  state.assumingMemoryBound(to: MultibandCompressor.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func multibandCompressorReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: MultibandCompressor.self).pointee.reset()
}

@_noLocks
private func multibandCompressorTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: MultibandCompressor.self).pointee.tail()
}
