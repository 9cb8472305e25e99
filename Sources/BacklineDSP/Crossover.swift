import BacklineRealtime
import CBackline

/// Splits the signal into two to four bands with outputs of their own, which add up to a flat level (`LinkwitzRiley`).
///
/// A change of the number of bands fades from the old tree of filters to a new one.
public struct Crossover: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case bands, crossover1Frequency, crossover2Frequency, crossover3Frequency }

  public static let description = UnitDescription(
    kind: "crossover", title: "Crossover",
    summary: "Splits the signal into bands, each with an output: for bi-amping, or effects on a part of the spectrum.",
    inputs: [.init("input")], outputs: (1...4).map { .init("band\($0)") },
    parameters: BandSplitter.parameters(bands: 2),
    make: { UnitInstance(Crossover.self, $0) })

  public static let functions = UnitFunctions(
    render: crossoverRender, set: crossoverSet, reset: crossoverReset, tail: crossoverTail)

  private var splitter: FadingSplitter

  public init(_ format: UnitFormat) { splitter = FadingSplitter(count: 2, sampleRate: format.sampleRate) }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    var bands = InlineArray<4, SIMD2<Double>>(repeating: .zero)
    for frame in 0..<max(0, Int(block.frameCount)) {
      splitter.split(backline_stereo_load(left + frame, right + frame), &bands)
      for band in 0..<BandSplitter.mostBands {
        backline_stereo_store(bands[band], block.output(band, 0) + frame, block.output(band, 1) + frame)
      }
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == Parameter.bands.rawValue {
      splitter.setCount(value, over: rampFrames)
    } else if parameter > 0 && parameter <= Parameter.crossover3Frequency.rawValue {
      splitter.setFrequency(parameter &- 1, value, over: rampFrames)
    }
  }

  @_noLocks
  mutating func reset() { splitter.reset() }

  @_noLocks
  func tail() -> Int64 { splitter.tail() }
}

@_noLocks
private func crossoverRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Crossover.self).pointee.render(block.pointee)
}

@_noLocks
private func crossoverSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Crossover.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func crossoverReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Crossover.self).pointee.reset()
}

@_noLocks
private func crossoverTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Crossover.self).pointee.tail()
}
