import BacklineRealtime
import CBackline

/// A parametric equalizer of 16 bands in series.
///
/// Each band is a second-order section of Bristow-Johnson's cookbook, that is the analogue prototype through the bilinear
/// transform: exact at its frequency, narrowed towards half the sample rate. Only bands that are on cost anything: a compact
/// list names them, and their filters lie together in front of all that is needed for movement alone. The signal stays in
/// Double from the first band to the last, where no gain of theirs can overflow.
public struct Equalizer: ProcessingUnit, ~Copyable {
  static var bandCount: Int { @_noLocks get { 16 } }

  public static let description = UnitDescription(
    kind: "equalizer", title: "Equalizer", summary: "Sixteen bands of parametric equalizer, each of any type.",
    inputs: [.init("input")], outputs: [.init("output")], parameters: EqualizerParameters.all,
    make: { UnitInstance(Equalizer.self, $0) })

  public static let functions = UnitFunctions(
    render: equalizerRender, set: equalizerSet, reset: equalizerReset, tail: equalizerTail)

  private var globalGain = Ramp(1)
  private var activeCount = 0
  /// The number of active bands that move.
  private var movingCount = 0
  /// Frames from the last quantum edge to the end of the last block.
  private var phase: Int32 = 0
  private let scratch = StereoScratch()
  /// Of the one band that runs, where there is one alone and it rests.
  private var pairs = SectionPairs()
  /// The numbers of the bands that have to run, in their order.
  private var active = InlineArray<16, UInt8>(repeating: 0)
  /// Near the beginning, where the renderer fetches a unit's memory ahead.
  private var sections = InlineArray<16, BiquadSection>(repeating: .identity)
  private var bands: InlineArray<16, EqualizerBand>

  public init(_ format: UnitFormat) {
    bands = InlineArray { index in
      EqualizerBand(frequency: EqualizerParameters.defaultFrequencies[index], sampleRate: format.sampleRate)
    }
  }

  deinit { scratch.deallocate() }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    if count <= 0 { return }
    var done = 0
    var cursor = QuantumCursor(frame: block.frame, count: block.frameCount)
    while movingCount > 0 && cursor.next() {
      if cursor.startsQuantum { beginQuantum() }
      filter(block, from: cursor.offset, count: cursor.count)
      done &+= cursor.count
    }
    while done < count {
      let piece = min(StereoScratch.capacity, count &- done)
      filter(block, from: done, count: piece)
      done &+= piece
    }
    amplify(block)
    phase = Int32((block.frame &+ Int64(count)) & (Quantum.frames &- 1))
  }

  /// Filters a part of a block, no longer than the scratch.
  @_noLocks
  private mutating func filter(_ block: borrowing RenderBlock, from offset: Int, count: Int) {
    if activeCount == 0 {
      for channel in 0..<2 {
        SampleMath.scale(block.output(0, channel) + offset, block.input(0, channel) + offset, by: 1, count: count)
      }
      return
    }
    if activeCount == 1 && movingCount == 0 {
      // One band alone waits for itself most of the time, in which its samples are converted for nothing.
      backline_section_run(
        &sections[Int(active[0])], &pairs, Int32((block.frame &+ Int64(offset)) & 1), block.input(0, 0) + offset,
        block.input(0, 1) + offset, block.output(0, 0) + offset, block.output(0, 1) + offset,
        Int32(truncatingIfNeeded: count))
      return
    }
    scratch.load(block, from: offset, count: count)
    if movingCount == 0 {
      runSections(from: 0, count: activeCount, frames: count)
    } else {
      for position in 0..<activeCount {
        let band = Int(active[position])
        if bands[band].isMoving {
          bands[band].run(&sections[band], scratch.samples, count)
        } else {
          runSections(from: position, count: 1, frames: count)
        }
      }
    }
    scratch.store(block, from: offset, count: count)
  }

  /// Runs active bands, the first of them at a position in their list, over the scratch.
  @_noLocks
  private mutating func runSections(from position: Int, count: Int, frames: Int) {
    // Why: a unit lies in memory of its own from its creation to its end, so these stay good.
    let sections = withUnsafeMutablePointer(to: &sections) { UnsafeMutableRawPointer($0) }
    let active = withUnsafeMutablePointer(to: &active) { UnsafeMutableRawPointer($0) }
    backline_sections_run(
      sections.assumingMemoryBound(to: BiquadSection.self), active.assumingMemoryBound(to: UInt8.self) + position,
      Int32(truncatingIfNeeded: count), scratch.samples, Int32(truncatingIfNeeded: frames))
  }

  @_noLocks
  private mutating func amplify(_ block: borrowing RenderBlock) {
    let left = block.output(0, 0), right = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    while start < count && !globalGain.isSettled {
      let gain = globalGain.next()
      left[start] *= gain
      right[start] *= gain
      start &+= 1
    }
    if globalGain.value == 1 { return }
    SampleMath.scale(left + start, UnsafePointer(left) + start, by: globalGain.value, count: count &- start)
    SampleMath.scale(right + start, UnsafePointer(right) + start, by: globalGain.value, count: count &- start)
  }

  // MARK: Control

  @_noLocks
  private mutating func beginQuantum() {
    for position in 0..<activeCount {
      let band = Int(active[position])
      if bands[band].isMoving { bands[band].beginQuantum(&sections[band]) }
    }
    listActive()
  }

  /// Lists the bands that have to run, in their order. After each change of a band, for its filter begins anew in pairs.
  @_noLocks
  private mutating func listActive() {
    activeCount = 0
    movingCount = 0
    for band in 0..<Self.bandCount {
      if bands[band].isMoving {
        movingCount &+= 1
      } else if !bands[band].isActive {
        sections[band].clear()
        continue
      }
      active[activeCount] = UInt8(truncatingIfNeeded: band)
      activeCount &+= 1
    }
    if activeCount == 1 { pairs = backline_section_pairs(sections[Int(active[0])].coefficients) }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    if parameter == EqualizerParameters.globalGain {
      globalGain.move(to: Decibels.gain(min(value, 24)), over: frames)
      return
    }
    let index = parameter &- EqualizerParameters.firstBand
    let band = index / EqualizerParameters.perBand
    if index < 0 || band >= Self.bandCount { return }
    switch EqualizerParameters.Band(index: index % EqualizerParameters.perBand) {
    case .type: bands[band].setType(value >= 0 && value <= 10 ? Int32(value) : 0, &sections[band], over: frames)
    case .frequency: bands[band].setFrequency(value, &sections[band], over: frames, phase: phase)
    case .gain: bands[band].setGain(value, &sections[band], over: frames, phase: phase)
    case .q: bands[band].setQ(value, &sections[band], over: frames, phase: phase)
    case .enabled: bands[band].setEnabled(value >= 0.5, &sections[band], over: frames)
    case nil: return
    }
    listActive()
  }

  @_noLocks
  mutating func reset() {
    globalGain.settle()
    for band in 0..<Self.bandCount { bands[band].reset(&sections[band]) }
    phase = 0
    listActive()
  }

  @_noLocks
  func tail() -> Int64 {
    var frames = 0.0
    for position in 0..<activeCount {
      let band = Int(active[position])
      frames += bands[band].tail(sections[band])
    }
    return frames < 1e12 ? Int64(frames) : 1_000_000_000_000
  }
}

@_noLocks
private func equalizerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Equalizer.self).pointee.render(block.pointee)
}

@_noLocks
private func equalizerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Equalizer.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func equalizerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Equalizer.self).pointee.reset()
}

@_noLocks
private func equalizerTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Equalizer.self).pointee.tail()
}
