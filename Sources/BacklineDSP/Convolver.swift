import BacklineRealtime
import CBackline

/// Convolves with an impulse response that a control thread gives it (`ConvolverControl`): rooms, cabinets, filters.
///
/// - No latency, the sound of `ConvolutionEngine`; with a response of four channels in true stereo.
/// - Without a response the input passes, so that a rack in which the file is missing still sounds.
/// - Another response takes over within a ramp of the input, and the one before rings out.
public struct Convolver: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case wetDryMix, gain, preDelay }

  public static let description = UnitDescription(
    kind: "convolver", title: "Convolver",
    summary: "Puts the signal into a recorded room, cabinet or device: load an impulse response.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output is convolved: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
      .init("gain", "How loud the convolved part is.", -60...24, default: 0, measure: .decibels),
      .init(
        "preDelay", "The time before the convolved part begins.", 0...longestPreDelay, default: 0, measure: .seconds,
        taper: .quadratic),
    ],
    file: "impulse response",
    make: { format in
      let memory = ConvolverMemory()
      return UnitInstance(
        initializing: Convolver(format, memory),
        control: ConvolverControl(sampleRate: format.sampleRate, memory: memory))
    })

  public static let functions = UnitFunctions(
    render: convolverRender, set: convolverSet, reset: convolverReset, tail: convolverTail)

  private static var longestPreDelay: Float { @_noLocks get { 0.5 } }

  private let sampleRate: Double
  private let rampFrames: Int32
  private let memory: ConvolverMemory
  private let link: UnsafeMutablePointer<ConvolverMemory.Link>
  private let pieces: UnsafeMutablePointer<Float>
  private var line: StereoDelayLine
  private var engines: ConvolutionSwitch
  private var preDelay = Crossfade(0)
  private var mix = Ramp(1)
  private var level = Ramp(1)
  /// False until something has been rendered: a response that is there from the start needs no ramp.
  private var hasRendered = false

  public init(_ format: UnitFormat) { self.init(format, ConvolverMemory()) }

  init(_ format: UnitFormat, _ memory: ConvolverMemory) {
    sampleRate = format.sampleRate
    rampFrames = format.rampFrames
    self.memory = memory
    link = memory.link
    pieces = SampleMemory.allocate(4 * Int(Quantum.frames))
    line = StereoDelayLine(maximum: Int(Double(Self.longestPreDelay) * sampleRate) + 1)
    engines = ConvolutionSwitch(nil)
  }

  deinit {
    ConvolverMemory.free(UInt(bitPattern: engines.current))
    ConvolverMemory.free(UInt(bitPattern: engines.leaving))
    engines.deallocate()
    line.deallocate()
    SampleMemory.free(pieces)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    if !hasRendered { begin() }
    let width = Int(Quantum.frames)
    let leftWet = pieces + 2 &* width, rightWet = pieces + 3 &* width
    var cursor = QuantumCursor(frame: block.frame, count: block.frameCount)
    while cursor.next() {
      if cursor.startsQuantum { exchange() }
      let left = block.input(0, 0) + cursor.offset, right = block.input(0, 1) + cursor.offset
      let leftOut = block.output(0, 0) + cursor.offset, rightOut = block.output(0, 1) + cursor.offset
      for i in 0..<cursor.count {
        line.write(SIMD2(left[i], right[i]))
        var delayed = line.read(Int(preDelay.to))
        if !preDelay.isSettled {
          let old = line.read(Int(preDelay.from))
          delayed = old + (delayed - old) * preDelay.weight
          preDelay.advance()
        }
        pieces[i] = delayed.x
        pieces[width &+ i] = delayed.y
      }
      engines.process(
        block.frame &+ Int64(cursor.offset), pieces, pieces + width, leftWet, rightWet, count: cursor.count)
      for i in 0..<cursor.count {
        let gain = level.next(), weight = mix.next()
        leftOut[i] = left[i] * (1 - weight) + leftWet[i] * gain * weight
        rightOut[i] = right[i] * (1 - weight) + rightWet[i] * gain * weight
      }
    }
  }

  /// Before the first frame: takes what waits, at once.
  @_noLocks
  private mutating func begin() {
    hasRendered = true
    take(over: 0)
  }

  /// At a quantum edge: gives back what has rung out, and lets a waiting engine take over.
  @_noLocks
  private mutating func exchange() {
    link.pointee.retire(engines.finish())
    if !link.pointee.hasIncoming() { return }
    if engines.isFree { take(over: rampFrames) } else { engines.hurry(over: rampFrames) }
  }

  @_noLocks
  private mutating func take(over frames: Int32) {
    let incoming = link.pointee.takeIncoming()
    if incoming == 0 { return }
    let engine = incoming == 1 ? nil : ConvolverMemory.Engine(bitPattern: incoming)
    link.pointee.retire(engines.take(engine, over: frames))
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .gain: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .preDelay:
      let seconds = Double(max(0, min(value, Self.longestPreDelay)))
      preDelay.move(to: Int32(seconds * sampleRate + 0.5), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    link.pointee.retire(engines.clear())
    line.clear()
    preDelay.settle()
    mix.settle()
    level.settle()
    hasRendered = false
  }

  /// The pre-delay and the response.
  @_noLocks
  func tail() -> Int64 { engines.tail &+ Int64(preDelay.largest) &+ 1 }
}

@_noLocks
private func convolverRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Convolver.self).pointee.render(block.pointee)
}

@_noLocks
private func convolverSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Convolver.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func convolverReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Convolver.self).pointee.reset()
}

@_noLocks
private func convolverTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Convolver.self).pointee.tail()
}
