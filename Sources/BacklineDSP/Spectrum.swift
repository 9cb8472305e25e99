import BacklineRealtime
import CBackline

/// Shows the level of each third of an octave; the signal passes unchanged.
///
/// Two Fourier transforms under Hann windows: one of about 85 ms for the thirds from 500 Hz up, and one of about 0.7 s of the
/// signal at about 3 kHz for those below, so that the lowest are told apart, too. The power of a bin counts for the thirds
/// (IEC 61260, base ten) that it overlaps, by the share. The level of a third is the RMS of both channels, averaged by one
/// time constant. FFTW's plans of these lengths neither allocate nor lock when they are executed.
public struct Spectrum: ProcessingUnit, ~Copyable {
  public static let description = UnitDescription(
    kind: "spectrum", title: "Spectrum Analyser",
    summary: "Shows the level of every third of an octave, and leaves the signal as it is.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "responseTime", "How slowly the levels follow: 63 % of the way in this time.", 0.05...5, default: 0.3,
        measure: .seconds, taper: .logarithmic)
    ]
      + GraphicEqualizerDesign.labels.enumerated().map { index, label in
        .reading(
          "band\(index + 1)Level", "The RMS level of the third of an octave around \(label).", -96...60, default: -96,
          measure: .decibels)
      },
    make: { UnitInstance(Spectrum.self, $0) })

  public static let functions = UnitFunctions(
    render: spectrumRender, set: spectrumSet, reset: spectrumReset, tail: spectrumTail)

  private static var bandCount: Int { @_noLocks get { GraphicEqualizerDesign.bandCount } }
  /// The first band of the fast transform: 500 Hz.
  private static var firstHighBand: Int { @_noLocks get { 14 } }

  private let sampleRate: Double
  private let readings: UnsafeMutablePointer<Float>
  private let scratch = StereoScratch()
  private var decimator: Decimator
  private var high: SpectrumWindow
  private var low: SpectrumWindow
  private let powers: UnsafeMutablePointer<Double>
  private var responseTime: Float = 0.3

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    readings = format.readings + 1
    let factor = max(1, Int(sampleRate / 3000 + 0.5))
    decimator = Decimator(factor: factor, cutoff: min(800, 0.2 * sampleRate), sampleRate: sampleRate)
    var length = 1024
    while Double(length) < 0.08 * sampleRate { length *= 2 }
    high = SpectrumWindow(length: length, sampleRate: sampleRate)
    low = SpectrumWindow(length: 2048, sampleRate: sampleRate / Double(factor))
    powers = .allocate(capacity: Self.bandCount)
    powers.initialize(repeating: 0, count: Self.bandCount)
    store()
  }

  deinit {
    scratch.deallocate()
    decimator.deallocate()
    high.deallocate()
    low.deallocate()
    powers.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    var offset = 0
    while offset < count {
      let piece = min(StereoScratch.capacity, count &- offset)
      measure(block, offset, piece)
      offset &+= piece
    }
    for channel in 0..<2 where block.input(0, channel) != UnsafePointer(block.output(0, channel)) {
      backline_copy(block.output(0, channel), block.input(0, channel), Int64(count))
    }
  }

  @_noLocks
  private mutating func measure(_ block: borrowing RenderBlock, _ offset: Int, _ count: Int) {
    scratch.load(block, from: offset, count: count)
    for frame in 0..<count where high.take(scratch.samples[frame]) {
      high.transform()
      average(high, Self.firstHighBand, Self.bandCount)
    }
    decimator.filter(scratch.samples, count)
    for frame in 0..<count where decimator.takes() && low.take(scratch.samples[frame]) {
      low.transform()
      average(low, 0, Self.firstHighBand)
    }
  }

  /// Moves the levels of some bands towards those of a new transform.
  @_noLocks
  private func average(_ window: borrowing SpectrumWindow, _ first: Int, _ end: Int) {
    let share = 1 - backline_exp(-window.hopSeconds / Double(responseTime))
    for band in first..<end {
      let centre = GraphicEqualizerDesign.centre(band)
      let edge = backline_pow(10, 0.05)
      let power = window.power(from: centre / edge, to: centre * edge)
      powers[band] += (power - powers[band]) * share
    }
    store()
  }

  @_noLocks
  private func store() {
    for band in 0..<Self.bandCount {
      backline_store_float(readings + band, min(60, Decibels.level(Float(backline_sqrt(max(0, powers[band]))))))
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == 0 { responseTime = max(0.001, min(value, 60)) }
  }

  @_noLocks
  mutating func reset() {
    decimator.reset()
    high.reset()
    low.reset()
    for band in 0..<Self.bandCount { powers[band] = 0 }
    store()
  }

  /// The time in which the readings fall to the bottom. The signal itself has no tail.
  @_noLocks
  func tail() -> Int64 { Tail.frames(20 * Double(responseTime) + 1, sampleRate: sampleRate) }
}

@_noLocks
private func spectrumRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Spectrum.self).pointee.render(block.pointee)
}

@_noLocks
private func spectrumSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Spectrum.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func spectrumReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Spectrum.self).pointee.reset()
}

@_noLocks
private func spectrumTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Spectrum.self).pointee.tail()
}
