import BacklineRealtime
import CBackline

/// Measures level and loudness; the signal passes unchanged.
///
/// Readings are stored every hundredth (peak, RMS) or tenth (loudness) of a second, counted in frames since the last reset.
/// A reset clears the windows of all readings but those of the programme: integrated loudness, loudness range and true peak are
/// no memory of sound, and silence, after which an idle unit is reset, must not end a measurement. Switching `integrating` on
/// begins a new one.
public struct Meter: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case integrating, peakLeft, peakRight, rmsLeft, rmsRight, loudnessMomentary, loudnessShortTerm, loudnessIntegrated
    case loudnessRange, truePeakLeft, truePeakRight
  }

  public static let description = UnitDescription(
    kind: "meter", title: "Meter", summary: "Shows level and loudness, and leaves the signal as it is.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .toggle(
        "integrating",
        "Off pauses the integrated loudness, the loudness range and the true peak; switching on begins anew.",
        default: true),
      level("peakLeft", "The left peak level, which falls by 20 dB in 1.7 s."),
      level("peakRight", "The right peak level, which falls by 20 dB in 1.7 s."),
      level("rmsLeft", "The left RMS level of the last 0.3 s."),
      level("rmsRight", "The right RMS level of the last 0.3 s."),
      loudness("loudnessMomentary", "The loudness of the last 0.4 s."),
      loudness("loudnessShortTerm", "The loudness of the last 3 s."),
      loudness("loudnessIntegrated", "The loudness of the programme so far, without its silences."),
      .reading(
        "loudnessRange", "How far apart soft and loud passages of the programme are, in LU.", 0...100, default: 0,
        measure: .decibels),
      level("truePeakLeft", "The highest left peak of the programme so far, between the samples, too."),
      level("truePeakRight", "The highest right peak of the programme so far, between the samples, too."),
    ],
    make: { UnitInstance(Meter.self, $0) })

  public static let functions = UnitFunctions(render: meterRender, set: meterSet, reset: meterReset, tail: meterTail)

  private let readings: UnsafeMutablePointer<Float>
  private let sampleRate: Double
  private let hundredth: Int
  private let tenth: Int
  private var filter: KWeighting
  private var levels: LevelMeasurement
  private var loudness = LoudnessMeasurement()
  private var range = LoudnessRange()
  private let detector = TruePeakDetector(taps: 48)
  private var truePeak = SIMD2<Float>(repeating: 0)
  /// The tenths of a second until the loudness range takes the next three seconds.
  private var tenthsToRange = 30
  private var isIntegrating = true
  private var framesOfHundredth = 0
  private var framesOfTenth = 0
  private var peak = SIMD2<Float>(repeating: 0)
  private var squares = SIMD2<Double>(repeating: 0)
  private var weightedSquares = SIMD2<Double>(repeating: 0)

  public init(_ format: UnitFormat) {
    readings = format.readings
    sampleRate = format.sampleRate
    hundredth = max(1, Int(sampleRate / 100 + 0.5))
    tenth = max(1, Int(sampleRate / 10 + 0.5))
    filter = KWeighting(sampleRate: sampleRate)
    levels = LevelMeasurement(step: Double(hundredth) / sampleRate)
    storeLevels()
    storeLoudness()
    storeProgramme()
  }

  deinit { detector.deallocate() }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let count = Int(block.frameCount)
    pass(left, block.output(0, 0), count)
    pass(right, block.output(0, 1), count)
    var start = 0
    while start < count {
      let end = start &+ min(count &- start, min(hundredth &- framesOfHundredth, tenth &- framesOfTenth))
      for i in start..<end { measure(left[i], right[i]) }
      if isIntegrating { findPeaks(left, right, from: start, to: end) }
      framesOfHundredth &+= end &- start
      framesOfTenth &+= end &- start
      if framesOfHundredth == hundredth { endHundredth() }
      if framesOfTenth == tenth { endTenth() }
      start = end
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float) {
    if parameter != Parameter.integrating.rawValue { return }
    let isOn = value >= 0.5
    if isOn && !isIntegrating {
      loudness.restartIntegration()
      range.restart()
      truePeak = SIMD2(repeating: 0)
      detector.reset()
      storeProgramme()
    }
    isIntegrating = isOn
  }

  @_noLocks
  mutating func reset() {
    filter.reset()
    levels.reset()
    loudness.clearWindows()
    detector.reset()
    tenthsToRange = 30
    framesOfHundredth = 0
    framesOfTenth = 0
    peak = SIMD2(repeating: 0)
    squares = SIMD2(repeating: 0)
    weightedSquares = SIMD2(repeating: 0)
    storeLevels()
    storeLoudness()
  }

  /// The time in which the longest window has run empty. The signal itself has no tail.
  @_noLocks
  func tail() -> Int64 { Tail.frames(3.1, sampleRate: sampleRate) }

  @inline(__always) @_noLocks
  private mutating func measure(_ left: Float, _ right: Float) {
    peak = SIMD2(max(peak.x, left.magnitude), max(peak.y, right.magnitude))
    let frame = SIMD2(Double(left), Double(right))
    squares += frame * frame
    let weighted = filter.process(frame)
    weightedSquares += weighted * weighted
  }

  /// Looks for true peaks above those found so far.
  @_noLocks
  private mutating func findPeaks(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, from start: Int, to end: Int
  ) {
    var start = start
    while start < end {
      let count = min(TruePeakDetector.chunk, end &- start)
      detector.run(left + start, right + start, count: count, floors: truePeak)
      for i in 0..<count { truePeak = SIMD2(max(truePeak.x, detector.left[i]), max(truePeak.y, detector.right[i])) }
      start &+= count
    }
  }

  @inline(__always) @_noLocks
  private func pass(_ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ count: Int) {
    if input != UnsafePointer(output) { backline_copy(output, input, Int64(count)) }
  }

  @_noLocks
  private mutating func endHundredth() {
    levels.add(peak: peak, square: squares / Double(hundredth))
    framesOfHundredth = 0
    peak = SIMD2(repeating: 0)
    squares = SIMD2(repeating: 0)
    storeLevels()
  }

  @_noLocks
  private mutating func endTenth() {
    loudness.add((weightedSquares.x + weightedSquares.y) / Double(tenth), isIntegrating: isIntegrating)
    framesOfTenth = 0
    weightedSquares = SIMD2(repeating: 0)
    tenthsToRange &-= 1
    if tenthsToRange <= 0 {
      tenthsToRange = 10
      if isIntegrating, let power = loudness.shortTermPower { range.add(power) }
      store(.loudnessRange, range.value())
    }
    storeLoudness()
  }

  @_noLocks
  private func storeProgramme() {
    store(.loudnessIntegrated, loudness.integrated)
    store(.loudnessRange, range.value())
    storeTruePeak()
  }

  @_noLocks
  private func storeTruePeak() {
    store(.truePeakLeft, Decibels.level(truePeak.x))
    store(.truePeakRight, Decibels.level(truePeak.y))
  }

  @_noLocks
  private func storeLevels() {
    let rms = levels.rms
    store(.peakLeft, Decibels.level(levels.peak.x))
    store(.peakRight, Decibels.level(levels.peak.y))
    store(.rmsLeft, Decibels.level(rms.x))
    store(.rmsRight, Decibels.level(rms.y))
    storeTruePeak()
  }

  @_noLocks
  private func storeLoudness() {
    store(.loudnessMomentary, loudness.momentary)
    store(.loudnessShortTerm, loudness.shortTerm)
    store(.loudnessIntegrated, loudness.integrated)
  }

  /// Stores a reading, held to the range of all of them: 60 is far above what any signal that is heard can reach.
  @_noLocks
  private func store(_ parameter: Parameter, _ value: Float) {
    backline_store_float(readings + parameter.rawValue, max(-96, min(value, 60)))
  }

  private static func level(_ name: String, _ summary: String) -> ParameterDescription {
    .reading(name, summary, -96...60, default: -96, measure: .decibels)
  }

  private static func loudness(_ name: String, _ summary: String) -> ParameterDescription {
    .reading(name, summary, -96...60, default: -96, measure: .loudness)
  }
}

@_noLocks
private func meterRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Meter.self).pointee.render(block.pointee)
}

@_noLocks
private func meterSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Meter.self).pointee.set(Int(parameter), to: value)
}

@_noLocks
private func meterReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Meter.self).pointee.reset()
}

@_noLocks
private func meterTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Meter.self).pointee.tail()
}
