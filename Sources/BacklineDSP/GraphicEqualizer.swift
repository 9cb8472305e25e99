import BacklineRealtime
import CBackline

/// A graphic equalizer of 31 thirds of an octave, whose curve goes through its sliders.
///
/// The accurate cascade design of J. Liski and V. Välimäki, "The quest for the best graphic equalizer", DAFx 2017: the bands
/// of a cascade leak into each other, so the gains of the filters are not those of the sliders but the least-squares solution
/// for them (`GraphicEqualizerDesign`). At the centres, the response is within 1 dB of what is asked for, alike for one slider
/// and for all of them. The signal stays in Double.
public struct GraphicEqualizer: ProcessingUnit, ~Copyable {
  static var bandCount: Int { @_noLocks get { GraphicEqualizerDesign.bandCount } }

  public static let description = UnitDescription(
    kind: "graphicEqualizer", title: "Graphic Equalizer",
    summary: "Thirty-one sliders, a third of an octave each, that together draw the frequency response.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("globalGain", "How much louder or softer all of it gets.", -96...24, default: 0, measure: .decibels)
    ]
      + GraphicEqualizerDesign.labels.enumerated().map { index, label in
        .init(
          "band\(index + 1)Gain", "How much louder or softer the third of an octave around \(label) gets.", -12...12,
          default: 0, measure: .decibels)
      },
    make: { UnitInstance(GraphicEqualizer.self, $0) })

  public static let functions = UnitFunctions(
    render: graphicEqualizerRender, set: graphicEqualizerSet, reset: graphicEqualizerReset, tail: graphicEqualizerTail)

  private let design: GraphicEqualizerDesign
  private let scratch = StereoScratch()
  private let sections: UnsafeMutablePointer<BiquadSection>
  private let steps: UnsafeMutablePointer<StereoBiquad>
  private let targets: UnsafeMutablePointer<BiquadCoefficients>
  private let order: UnsafeMutablePointer<UInt8>
  private let sliders: UnsafeMutablePointer<QuantumRamp>
  private var globalGain = Ramp(1)
  /// Frames from the last quantum edge to the end of the last block.
  private var phase: Int32 = 0
  private var isMoving = false
  /// True where every filter is the identity.
  private var isFlat = true
  private var newest = SIMD2<Double>.zero
  private var secondNewest = SIMD2<Double>.zero

  public init(_ format: UnitFormat) {
    design = GraphicEqualizerDesign(sampleRate: format.sampleRate)
    let count = Self.bandCount
    sections = .allocate(capacity: count)
    sections.initialize(repeating: .identity, count: count)
    steps = .allocate(capacity: count)
    steps.initialize(repeating: StereoBiquad(.identity), count: count)
    targets = .allocate(capacity: count)
    targets.initialize(repeating: .identity, count: count)
    order = .allocate(capacity: count)
    for band in 0..<count { (order + band).initialize(to: UInt8(band)) }
    sliders = .allocate(capacity: count)
    sliders.initialize(repeating: QuantumRamp(0), count: count)
  }

  deinit {
    design.deallocate()
    scratch.deallocate()
    sections.deallocate()
    steps.deallocate()
    targets.deallocate()
    order.deallocate()
    sliders.deallocate()
  }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    if count <= 0 { return }
    var done = 0
    var cursor = QuantumCursor(frame: block.frame, count: block.frameCount)
    while isMoving && cursor.next() {
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

  @_noLocks
  private mutating func filter(_ block: borrowing RenderBlock, from offset: Int, count: Int) {
    scratch.load(block, from: offset, count: count)
    remember(count)
    let frames = Int32(truncatingIfNeeded: count)
    if isMoving {
      for band in 0..<Self.bandCount {
        backline_section_run_moving(sections + band, steps + band, scratch.samples, frames)
      }
    } else if !isFlat {
      backline_sections_run(sections, order, Int32(Self.bandCount), scratch.samples, frames)
    }
    scratch.store(block, from: offset, count: count)
  }

  /// Keeps the last two frames of the input: where all filters are the identity, they are the state of each.
  @_noLocks
  private mutating func remember(_ count: Int) {
    secondNewest = count > 1 ? scratch.samples[count &- 2] : newest
    newest = scratch.samples[count &- 1]
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

  /// Starts to move from the present filters.
  @_noLocks
  private mutating func startMoving() {
    if isMoving { return }
    isMoving = true
    for band in 0..<Self.bandCount {
      steps[band] = StereoBiquad(BiquadCoefficients(b0: 0, b1: 0, b2: 0, a1: 0, a2: 0))
      if isFlat {
        sections[band].x1 = newest
        sections[band].y1 = newest
        sections[band].x2 = secondNewest
        sections[band].y2 = secondNewest
      }
    }
  }

  @_noLocks
  private mutating func beginQuantum() {
    var isRamping = false
    for band in 0..<Self.bandCount where !sliders[band].isSettled {
      sliders[band].advance()
      isRamping = true
    }
    for band in 0..<Self.bandCount { sections[band].coefficients = StereoBiquad(targets[band]) }
    if !isRamping {
      isMoving = false
      return
    }
    for band in 0..<Self.bandCount {
      let start = targets[band]
      targets[band] = coefficients(band)
      steps[band] = StereoBiquad(start.step(to: targets[band], over: Double(Quantum.frames)))
    }
    isFlat = sliderSum == 0
  }

  private var sliderSum: Float {
    @_noLocks get {
      var sum: Float = 0
      for band in 0..<Self.bandCount { sum += abs(sliders[band].value) }
      return sum
    }
  }

  @_noLocks
  private func coefficients(_ band: Int) -> BiquadCoefficients {
    var gain = 0.0
    for slider in 0..<Self.bandCount { gain += design.weight(band, slider) * Double(sliders[slider].value) }
    return design.filter(band, gain: gain)
  }

  /// Takes the sliders over at once.
  @_noLocks
  private mutating func jump() {
    for band in 0..<Self.bandCount {
      targets[band] = coefficients(band)
      sections[band].coefficients = StereoBiquad(targets[band])
    }
    isFlat = sliderSum == 0
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    if parameter == 0 {
      globalGain.move(to: Decibels.gain(min(value, 24)), over: frames)
      return
    }
    let band = parameter &- 1
    if band < 0 || band >= Self.bandCount { return }
    let bounded = max(-12, min(value, 12))
    if frames > 0 {
      startMoving()
      sliders[band].move(to: bounded, over: frames, phase: phase)
      return
    }
    let wasMoving = isMoving
    startMoving()
    isMoving = wasMoving
    sliders[band].move(to: bounded, over: 0, phase: phase)
    if isMoving {
      for band in 0..<Self.bandCount {
        steps[band] = StereoBiquad(BiquadCoefficients(b0: 0, b1: 0, b2: 0, a1: 0, a2: 0))
      }
    }
    jump()
  }

  @_noLocks
  mutating func reset() {
    globalGain.settle()
    for band in 0..<Self.bandCount {
      sliders[band].settle()
      sections[band].clear()
    }
    newest = .zero
    secondNewest = .zero
    phase = 0
    isMoving = false
    jump()
  }

  /// The frames until the sound has fallen below -140 dB: those of the slowest filter, and some for each of the others.
  @_noLocks
  func tail() -> Int64 {
    var longest = 0.0, sum = 0.0
    for band in 0..<Self.bandCount where !(isFlat && !isMoving) {
      let frames = sections[band].tail
      longest = max(longest, frames)
      sum += frames
    }
    let frames = longest + 0.2 * sum
    return frames < 1e12 ? Int64(frames) : 1_000_000_000_000
  }
}

@_noLocks
private func graphicEqualizerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: GraphicEqualizer.self).pointee.render(block.pointee)
}

@_noLocks
private func graphicEqualizerSet(
  _ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32
) {
  state.assumingMemoryBound(to: GraphicEqualizer.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func graphicEqualizerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: GraphicEqualizer.self).pointee.reset()
}

@_noLocks
private func graphicEqualizerTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: GraphicEqualizer.self).pointee.tail()
}
