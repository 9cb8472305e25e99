import BacklineRealtime
import CBackline

/// A stereo reverb: pre-delay, diffusion, and a network of sixteen delay lines.
///
/// - The decay time is the time in which sound falls by 60 dB at low and middle frequencies; above 6 kHz it is shorter by
///   up to a factor of 10, as `damping` says.
/// - The wet level does not depend on `decayTime` or `size`: what goes into the network is scaled so that noise comes out
///   about as loud as it went in.
/// - What goes into the wet path is clipped at +24 dB, so that a fault of any size has died away within the tail.
/// - Coefficients of the network are computed once a quantum, for its end, and move there by equal steps. Quanta count
///   from the last reset.
public struct Reverb: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case wetDryMix, decayTime, preDelay, size, damping, lowCut, highCut, modulationDepth, width
  }

  public static let description = UnitDescription(
    kind: "reverb", title: "Reverb", summary: "Puts the signal into a room, small or large.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output is reverb: 0 is the input alone, 100 the reverb alone.", 0...100,
        default: 30, measure: .percent),
      .init(
        "decayTime", "The time in which the reverb falls by 60 dB.", 0.1...20, default: 2, measure: .seconds,
        taper: .logarithmic),
      .init(
        "preDelay", "The time before the reverb begins.", 0...longestPreDelay, default: 0.02, measure: .seconds,
        taper: .quadratic),
      .init(
        "size", "How large the room is: the distance between its reflections.", 0...100, default: 60, measure: .percent),
      .init(
        "damping", "How much sooner high frequencies die away: at 100 in a tenth of the time.", 0...100, default: 50,
        measure: .percent),
      .init(
        "lowCut", "The reverb has nothing below.", 10...1000, default: 40, measure: .hertz, taper: .logarithmic),
      .init(
        "highCut", "The reverb has nothing above.", 1000...20_000, default: 16_000, measure: .hertz,
        taper: .logarithmic),
      .init(
        "modulationDepth", "How much the room wanders, against metallic ringing.", 0...100, default: 30,
        measure: .percent),
      .init("width", "From 0, mono, to 100, as wide as the room.", 0...100, default: 100, measure: .percent),
    ],
    make: { UnitInstance(Reverb.self, $0) })

  public static let functions = UnitFunctions(
    render: reverbRender, set: reverbSet, reset: reverbReset, tail: reverbTail)

  private static var longestPreDelay: Float { @_noLocks get { 0.25 } }
  /// The bound of what goes into the wet path: +24 dB.
  private static var limit: Float { @_noLocks get { 16 } }

  private let sampleRate: Double
  private let primes: PrimeTable
  private var preDelayLine: StereoDelayLine
  private var diffuser: ReverbDiffuser
  private var network: ReverbNetwork
  private var lowCut = OnePole()
  private var highCut = OnePole()

  private var preDelay: Crossfade
  private var mix = Ramp(0.3)
  private var width = Ramp(1)
  private var injection = Ramp(0)

  // Evaluated at quantum edges; between them they stand at the value for the end of the quantum.
  private var decayTime = Ramp(2)
  private var damping = Ramp(50)
  private var depth = Ramp(0.3)
  private var framesIntoQuantum: Int32 = 0
  private var hasChanged = false

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    let longest = max(ReverbNetwork.longestTime, ReverbDiffuser.longestTime)
    primes = PrimeTable(upTo: Int(longest * sampleRate))
    preDelayLine = StereoDelayLine(maximum: Int(Double(Self.longestPreDelay) * sampleRate) + 1)
    diffuser = ReverbDiffuser(sampleRate: sampleRate, primes: primes)
    network = ReverbNetwork(sampleRate: sampleRate, size: 0.6, primes: primes)
    preDelay = Crossfade(Int32(0.02 * sampleRate + 0.5))
    lowCut.coefficient = Ramp(OnePole.coefficient(cutoff: 40, sampleRate: sampleRate))
    highCut.coefficient = Ramp(OnePole.coefficient(cutoff: 16_000, sampleRate: sampleRate))
    aim(over: 0)
  }

  deinit {
    preDelayLine.deallocate()
    primes.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    while start < count {
      if framesIntoQuantum == 0 { startQuantum() }
      let rest = Int32(Quantum.frames) &- framesIntoQuantum
      if hasChanged { aim(over: rest) }
      let end = start &+ min(count &- start, Int(rest))
      for i in start..<end {
        let output = step(SIMD2(left[i], right[i]))
        leftOut[i] = output.x
        rightOut[i] = output.y
        framesIntoQuantum &+= 1
        if !isSettled { advance() }
      }
      framesIntoQuantum &= Int32(Quantum.frames) &- 1
      start = end
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    let into = framesIntoQuantum
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: value / 100, over: rampFrames)
    case .preDelay:
      let seconds = Double(max(0, min(value, Self.longestPreDelay)))
      preDelay.move(to: Int32(seconds * sampleRate + 0.5), over: rampFrames)
    case .lowCut: lowCut.coefficient.move(to: cutoff(value), over: rampFrames)
    case .highCut: highCut.coefficient.move(to: cutoff(value), over: rampFrames)
    case .width: width.move(to: value / 100, over: rampFrames)
    case .decayTime:
      Self.start(&decayTime, to: max(0.05, value), over: rampFrames, into: into)
      change(over: rampFrames)
    case .damping:
      Self.start(&damping, to: max(0, min(value, 100)), over: rampFrames, into: into)
      change(over: rampFrames)
    case .modulationDepth:
      Self.start(&depth, to: max(0, min(value / 100, 1)), over: rampFrames, into: into)
      change(over: max(1, rampFrames))
    case .size:
      if network.resize(to: value / 100, over: rampFrames) { change(over: rampFrames) }
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    preDelayLine.clear()
    diffuser.reset()
    preDelay.settle()
    mix.settle()
    width.settle()
    lowCut.reset()
    highCut.reset()
    decayTime.settle()
    damping.settle()
    depth.settle()
    framesIntoQuantum = 0
    network.reset()
    aim(over: 0)
  }

  /// The time until what was as loud as the limit is below -140 dB, at most a minute.
  @_noLocks
  mutating func tail() -> Int64 {
    let decay = Double(max(decayTime.value, decayTime.target)) * (140 + 24) / 60
    return Tail.frames(decay + Double(preDelay.largest) / sampleRate + 0.5, sampleRate: sampleRate)
  }

  /// One frame: takes the input, returns the output.
  @inline(__always) @_noLocks
  private mutating func step(_ input: SIMD2<Float>) -> SIMD2<Float> {
    preDelayLine.write(
      SIMD2(max(-Self.limit, min(input.x, Self.limit)), max(-Self.limit, min(input.y, Self.limit))))
    var delayed = preDelayLine.read(Int(preDelay.to))
    if !preDelay.isSettled {
      let old = preDelayLine.read(Int(preDelay.from))
      delayed = old + (delayed - old) * preDelay.weight
    }
    let filtered = highCut.lowPass(lowCut.highPass(delayed))
    let wet = network.process(diffuser.process(filtered) * injection.value)
    let middle = (wet.x + wet.y) * 0.5
    let side = (wet.x - wet.y) * 0.5 * width.value
    return input * (1 - mix.value) + SIMD2(middle + side, middle - side) * mix.value
  }

  private var isSettled: Bool {
    @inline(__always) @_noLocks
    get {
      network.isSettled && preDelay.isSettled && mix.isSettled && width.isSettled && injection.isSettled
        && lowCut.coefficient.isSettled && highCut.coefficient.isSettled
    }
  }

  @_noLocks
  private mutating func advance() {
    preDelay.advance()
    mix.advance()
    width.advance()
    injection.advance()
    lowCut.coefficient.advance()
    highCut.coefficient.advance()
    if network.advance() { aim(over: Int32(Quantum.frames) &- (framesIntoQuantum & 31)) }
  }

  @_noLocks
  private func cutoff(_ hertz: Float) -> Float { OnePole.coefficient(cutoff: hertz, sampleRate: sampleRate) }

  /// Starts the ramp of a parameter that is evaluated at quantum edges: it holds its value at the end of this quantum.
  @_noLocks
  private static func start(_ ramp: inout Ramp, to value: Float, over rampFrames: Int32, into frames: Int32) {
    ramp.move(to: value, over: rampFrames)
    if frames > 0 { ramp.advance(by: Int32(Quantum.frames) &- frames) }
  }

  /// Notes that the coefficients have to follow, and lets them jump where there is no ramp.
  @_noLocks
  private mutating func change(over rampFrames: Int32) {
    if rampFrames <= 0 { aim(over: 0) } else { hasChanged = true }
  }

  @_noLocks
  private mutating func startQuantum() {
    network.modulation.startQuantum()
    if !decayTime.isSettled || !damping.isSettled || !depth.isSettled {
      decayTime.advance(by: Int32(Quantum.frames))
      damping.advance(by: Int32(Quantum.frames))
      depth.advance(by: Int32(Quantum.frames))
      hasChanged = true
    }
    if !hasChanged { network.modulation.aim(over: Int32(Quantum.frames), depth: depth.value) }
  }

  /// Lets the coefficients move to what the parameters ask for at the end of this quantum, `frames` ahead; at once for 0.
  @_noLocks
  private mutating func aim(over frames: Int32) {
    hasChanged = false
    let lengths = network.lengths
    // Of a unit impulse the lines hold the energy 1, spread over all their frames, at first; each output adds 16 of them.
    let total = Float(lengths.wrappedSum())
    let energy = 16 * Float(sampleRate) * decayTime.value / (13.815_511 * total)
    injection.move(to: Float(backline_sqrt(Double(0.5 / energy))), over: frames)
    let highRatio = backline_powf(10, -damping.value / 100)
    network.absorption.move(lengths: lengths, decayTime: decayTime.value, highRatio: highRatio, over: frames)
    diffuser.move(decayTime: decayTime.value * highRatio, over: frames)
    if frames > 0 { network.modulation.aim(over: frames, depth: depth.value) }
  }
}

@_noLocks
private func reverbRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Reverb.self).pointee.render(block.pointee)
}

@_noLocks
private func reverbSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Reverb.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func reverbReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Reverb.self).pointee.reset()
}

@_noLocks
private func reverbTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Reverb.self).pointee.tail()
}
