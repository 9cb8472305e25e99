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
  /// The frames that are worked on at once, a multiple of eight.
  private static var chunk: Int { @_noLocks get { 64 } }

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

    private var isSettled: Bool {
      @_noLocks get {
        threshold.isSettled && slope.isSettled && attack.isSettled && release.isSettled && gain.isSettled
      }
    }

    /// True where silence would change nothing of it.
    var isIdle: Bool { @_noLocks get { isSettled && smoother.reduction == 0 } }

    /// Writes the factor of each frame for the band by what decides. `factors` has room for a multiple of eight.
    @_noLocks
    mutating func fill(
      _ factors: UnsafeMutablePointer<Float>, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
      knee: Ramp, mix: Ramp, count: Int
    ) {
      // Both move for all bands alike.
      var knee = knee, mix = mix
      var start = 0
      while start < count && !(isSettled && knee.isSettled) {
        let curve = CompressorCurve(threshold: threshold.value, knee: knee.next(), slope: slope.value)
        smoother.follow(curve.reduction(left[start], right[start]), attack: attack.value, release: release.value)
        factors[start] = Self.factor(FastMath.exp2(-Float(smoother.reduction)) * gain.value, mix.next())
        threshold.advance()
        slope.advance()
        attack.advance()
        release.advance()
        gain.advance()
        start &+= 1
      }
      if start >= count { return }
      let curve = CompressorCurve(threshold: threshold.value, knee: knee.value, slope: slope.value)
      var settings = curve.settings(added: 0, attack: attack.value, release: release.value)
      backline_compressor_gains(
        left + start, right + start, factors + start, Int32(truncatingIfNeeded: count &- start), &settings,
        &smoother.reduction)
      for frame in start..<count { factors[frame] = Self.factor(factors[frame] * gain.value, mix.next()) }
    }

    @inline(__always) @_noLocks
    private static func factor(_ reduced: Float, _ mix: Float) -> Float { 1 + mix * (reduced - 1) }

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
  /// The bands of a chunk one behind the other, those of what decides, and the sum.
  private let bands: UnsafeMutablePointer<SIMD2<Double>>
  private let keys: UnsafeMutablePointer<SIMD2<Double>>
  private let sums: UnsafeMutablePointer<SIMD2<Double>>
  /// What decides in one band, left and right, and its factors, with room for seven more.
  private let floats: UnsafeMutablePointer<Float>

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    readings = format.readings + Self.firstBandParameter + Self.bandCount * Self.parametersPerBand
    splitter = FadingSplitter(count: 3, sampleRate: format.sampleRate)
    keySplitter = splitter
    channels = InlineArray(repeating: Channel(sampleRate: format.sampleRate))
    bands = .allocate(capacity: 9 * Self.chunk)
    bands.initialize(repeating: .zero, count: 9 * Self.chunk)
    keys = bands + 4 * Self.chunk
    sums = bands + 8 * Self.chunk
    floats = SampleMemory.allocate(3 * Self.chunk + 8)
  }

  deinit {
    bands.deallocate()
    SampleMemory.free(floats)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let hasKey = block.isConnected(1)
    var offset = 0
    while offset < Int(block.frameCount) {
      let count = min(Self.chunk, Int(block.frameCount) &- offset)
      let heard = max(splitter.heardBands, keySplitter.heardBands)
      splitter.split(block.input(0, 0) + offset, block.input(0, 1) + offset, bands, stride: Self.chunk, count: count)
      if hasKey {
        keySplitter.split(
          block.input(1, 0) + offset, block.input(1, 1) + offset, keys, stride: Self.chunk, count: count)
      }
      compress(hasKey ? keys : bands, heard: heard, count: count)
      backline_stereo_narrow(
        sums, block.output(0, 0) + offset, block.output(0, 1) + offset, Int32(truncatingIfNeeded: count))
      offset &+= count
    }
    storeReadings()
  }

  /// Sums the bands of a chunk, each by the factors that its `keys` ask for. From `heard` on they are silent.
  @_noLocks
  private mutating func compress(_ keys: UnsafePointer<SIMD2<Double>>, heard: Int, count: Int) {
    let left = floats, right = floats + Self.chunk, factors = floats + 2 &* Self.chunk
    for frame in 0..<max(0, count) { sums[frame] = .zero }
    for band in 0..<Self.bandCount where band < heard || !channels[band].isIdle {
      backline_stereo_narrow(keys + band &* Self.chunk, left, right, Int32(truncatingIfNeeded: count))
      channels[band].fill(factors, left, right, knee: knee, mix: mix, count: count)
      let samples = bands + band &* Self.chunk
      for frame in 0..<max(0, count) {
        sums[frame] = backline_stereo_add(
          sums[frame], backline_stereo_scale(samples[frame], Double(factors[frame])))
      }
    }
    for _ in 0..<max(0, count) where !(knee.isSettled && mix.isSettled) {
      knee.advance()
      mix.advance()
    }
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
