import BacklineRealtime
import CBackline

/// A stereo reverb: pre-delay, diffusion, and a network of sixteen delay lines; or a pair of springs.
///
/// - `character`: a room; a plate, whose lines are short and whose diffusion is twice as deep, so that it is dense at once
///   (after Dattorro's, "Effect design, part 1", JAES 1997); springs (`SpringTank`); or shimmer, a room whose sound goes in again an
///   octave higher (`OctaveUp`). A change turns over what goes in; what sounds rings out.
/// - The decay time is the time in which sound falls by 60 dB at low and middle frequencies; above 6 kHz it is shorter by
///   up to a factor of 10, as `damping` says.
/// - The wet level does not depend on `decayTime` or `size`: what goes into the network is scaled so that noise comes out
///   about as loud as it went in.
/// - What goes into the wet path is clipped at +24 dB, so that a fault of any size has died away within the tail.
/// - Coefficients of the network are computed once a quantum, for its end, and move there by equal steps. Quanta count
///   from the last reset.
public struct Reverb: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case wetDryMix, decayTime, preDelay, size, damping, lowCut, highCut, modulationDepth, width, character, shimmer,
      preset
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
      .discrete(
        "character",
        "What it sounds like: a room, a dense bright plate, dripping springs, or a room with octaves rising out of it.",
        ["room", "plate", "spring", "shimmer"]),
      .init(
        "shimmer", "How much goes in again an octave higher, where the character is shimmer.", 0...100, default: 50,
        measure: .percent),
      UnitPreset.parameter(
        "One of Apple's factory rooms: sets all above but the mix and the shimmer.", ReverbPreset.units),
    ],
    presets: ReverbPreset.units,
    make: { UnitInstance(Reverb.self, $0) })

  public static let functions = UnitFunctions(
    render: reverbRender, set: reverbSet, reset: reverbReset, tail: reverbTail)

  private static var longestPreDelay: Float { @_noLocks get { 0.25 } }
  /// The bound of what goes into the wet path: +24 dB.
  private static var limit: Float { @_noLocks get { 16 } }

  private static var block: Int { @_noLocks get { BacklineBlockFrames } }

  private let sampleRate: Double
  private let primes: PrimeTable
  private var preDelayLine: BlockRings
  private var diffuser: ReverbDiffuser
  private var plateDiffuser: ReverbDiffuser
  private var spring: SpringTank
  private var octave: OctaveUp
  private var network: ReverbNetwork
  private var lowCut: BlockRamp
  private var highCut: BlockRamp
  private let scratch: ReverbScratch

  private var preDelay: Crossfade
  private var mix = BlockRamp(0.3)
  private var width = BlockRamp(1)
  private var injection = BlockRamp(0)

  // Evaluated at quantum edges; between them they stand at the value for the end of the quantum.
  private var decayTime = Ramp(2)
  private var damping = Ramp(50)
  private var depth = Ramp(0.3)
  /// 0 room, 1 plate, 2 spring, 3 shimmer.
  private var character: Int32 = 0
  private var size: Float = 60
  private var shimmer: Float = 0.5
  /// What goes into the network and the springs, how much of the plate's diffusion, and of the octave.
  private var networkFeed = BlockRamp(1)
  private var springFeed = BlockRamp(0)
  private var plate = BlockRamp(0)
  private var octaveFeed = BlockRamp(0)
  /// The frames that network and springs still sound for without input.
  private var networkRest: Int64 = .max
  private var springRest: Int64 = 0
  private var lastWet = SIMD2<Float>(repeating: 0)
  private var framesIntoQuantum: Int32 = 0
  private var hasChanged = false

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    let longest = max(ReverbNetwork.longestTime, ReverbDiffuser.longestTime)
    primes = PrimeTable(upTo: Int(longest * sampleRate))
    preDelayLine = BlockRings(count: 2, longest: Int(Double(Self.longestPreDelay) * sampleRate) + Self.block)
    diffuser = ReverbDiffuser(sampleRate: sampleRate, primes: primes)
    plateDiffuser = ReverbDiffuser(sampleRate: sampleRate, primes: primes, scale: 0.37)
    spring = SpringTank(sampleRate: sampleRate)
    octave = OctaveUp(sampleRate: sampleRate)
    network = ReverbNetwork(sampleRate: sampleRate, size: 0.6, primes: primes)
    scratch = ReverbScratch()
    preDelay = Crossfade(Int32(0.02 * sampleRate + 0.5))
    lowCut = BlockRamp(OnePole.coefficient(cutoff: 40, sampleRate: sampleRate))
    highCut = BlockRamp(OnePole.coefficient(cutoff: 16_000, sampleRate: sampleRate))
    aim(over: 0)
  }

  deinit {
    preDelayLine.deallocate()
    spring.deallocate()
    octave.deallocate()
    primes.deallocate()
  }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    var start = 0
    while start < count {
      if framesIntoQuantum == 0 { startQuantum() }
      let rest = Int32(Quantum.frames) &- framesIntoQuantum
      if hasChanged { aim(over: rest) }
      let frames = min(min(count &- start, Int(rest)), steadyFrames())
      render(block, from: start, Int32(truncatingIfNeeded: frames))
      framesIntoQuantum = (framesIntoQuantum &+ Int32(truncatingIfNeeded: frames)) & (Int32(Quantum.frames) &- 1)
      start &+= frames
    }
  }

  /// The frames that may be rendered at once: after them, something begins or ends. At least one.
  @inline(__always) @_noLocks
  private mutating func steadyFrames() -> Int {
    let frames = min(network.steadyFrames, diffuser.longestBlock)
    return isPlain && preDelay.isSettled ? frames : min(frames, unusualFrames())
  }

  /// Those outside of a room at rest. Why mutating: what is not would get a copy of everything, here and in `steadyFrames`.
  @inline(never) @_noLocks
  private mutating func unusualFrames() -> Int {
    var frames = plate.isZero ? Self.block : plateDiffuser.longestBlock
    if !preDelay.isSettled { frames = min(frames, preDelay.remaining) }
    if !networkFeed.isSettled { frames = min(frames, networkFeed.remaining) }
    if !springFeed.isSettled { frames = min(frames, springFeed.remaining) }
    if !plate.isSettled { frames = min(frames, plate.remaining) }
    if !octaveFeed.isSettled { frames = min(frames, octaveFeed.remaining) }
    if networkFeed.isZero && networkRest > 0 { frames = Int(min(Int64(frames), networkRest)) }
    if springFeed.isZero && springRest > 0 { frames = Int(min(Int64(frames), springRest)) }
    return max(1, frames)
  }

  /// True where it is a room and nothing else still sounds.
  private var isPlain: Bool {
    @inline(__always) @_noLocks get {
      character == 0 && networkFeed.isSettled && springRest == 0 && plate.isZero && octaveFeed.isZero
    }
  }

  /// Renders some frames, at most `steadyFrames`.
  @inline(__always) @_noLocks
  private mutating func render(_ block: borrowing RenderBlock, from start: Int, _ count: Int32) {
    let left = block.input(0, 0) + start, right = block.input(0, 1) + start
    let frames = Int(count)
    backline_reverb_take(&preDelayLine, left, right, Self.limit, count)
    backline_reverb_delayed(&preDelayLine, preDelay.to, scratch.left, scratch.right, count)
    if !preDelay.isSettled { fadePreDelay(count) }
    lowCut.next(frames)
    highCut.next(frames)
    backline_reverb_band(scratch.left, scratch.right, lowCut.values, highCut.values, scratch.band, count)
    injection.next(frames)
    if isPlain {
      network.read(scratch.wetLeft, scratch.wetRight, count)
      diffuser.process(scratch.left, scratch.right, count)
      write(count)
    } else {
      colour(count)
    }
    mix.next(frames)
    width.next(frames)
    backline_reverb_mix(
      left, right, scratch.wetLeft, scratch.wetRight, mix.values, width.values, block.output(0, 0) + start,
      block.output(0, 1) + start, count)
  }

  @inline(__always) @_noLocks
  private mutating func write(_ count: Int32) {
    let isResized = network.write(scratch.left, scratch.right, injection: injection.values, count)
    if isResized { hasChanged = true }
  }

  @inline(never) @_noLocks
  private mutating func fadePreDelay(_ count: Int32) {
    backline_reverb_delayed(&preDelayLine, preDelay.from, scratch.otherLeft, scratch.otherRight, count)
    for frame in 0..<max(0, Int(count)) {
      let weight = preDelay.weight
      scratch.left[frame] = scratch.otherLeft[frame] + (scratch.left[frame] - scratch.otherLeft[frame]) * weight
      scratch.right[frame] = scratch.otherRight[frame] + (scratch.right[frame] - scratch.otherRight[frame]) * weight
      preDelay.advance()
    }
  }

  /// The wet part of the characters other than the room, and on the way to and from them.
  @inline(never) @_noLocks
  private mutating func colour(_ count: Int32) {
    let frames = max(0, Int(count))
    let isFed = !networkFeed.isZero, isSpringFed = !springFeed.isZero
    let hasNetwork = networkRest > 0, hasSpring = springRest > 0
    let hasPlate = !plate.isZero, hasOctave = !octaveFeed.isZero
    networkFeed.next(frames)
    springFeed.next(frames)
    plate.next(frames)
    octaveFeed.next(frames)
    for frame in 0..<frames where hasSpring {
      let sound = spring.process(SIMD2(scratch.left[frame], scratch.right[frame]) * springFeed.values[frame])
      scratch.springLeft[frame] = sound.x
      scratch.springRight[frame] = sound.y
    }
    if hasNetwork {
      network.read(scratch.wetLeft, scratch.wetRight, count)
      feed(frames, hasOctave: hasOctave)
      diffuser.process(scratch.left, scratch.right, count)
      if hasPlate { deepen(count) }
      write(count)
    } else {
      backline_zero(scratch.wetLeft, Int64(count))
      backline_zero(scratch.wetRight, Int64(count))
      if network.skip(count) { hasChanged = true }
    }
    if hasSpring {
      backline_add(scratch.wetLeft, scratch.springLeft, Int64(count))
      backline_add(scratch.wetRight, scratch.springRight, Int64(count))
    }
    if !isFed && hasNetwork { networkRest &-= Int64(count) }
    if !isSpringFed && hasSpring { springRest &-= Int64(count) }
  }

  /// Makes of the input what goes into the network: its share of it, and the octave above what came out a frame ago.
  @inline(__always) @_noLocks
  private mutating func feed(_ frames: Int, hasOctave: Bool) {
    for frame in 0..<frames {
      var input = SIMD2(scratch.left[frame], scratch.right[frame]) * networkFeed.values[frame]
      if hasOctave {
        let higher = octave.process(lastWet) * octaveFeed.values[frame]
        input += SIMD2(max(-Self.limit, min(higher.x, Self.limit)), max(-Self.limit, min(higher.y, Self.limit)))
      }
      lastWet = SIMD2(scratch.wetLeft[frame], scratch.wetRight[frame])
      scratch.left[frame] = input.x
      scratch.right[frame] = input.y
    }
  }

  /// Diffuses once more what goes into the network.
  @inline(__always) @_noLocks
  private mutating func deepen(_ count: Int32) {
    backline_copy(scratch.otherLeft, scratch.left, Int64(count))
    backline_copy(scratch.otherRight, scratch.right, Int64(count))
    plateDiffuser.process(scratch.otherLeft, scratch.otherRight, count)
    backline_reverb_approach(scratch.left, scratch.otherLeft, plate.values, count)
    backline_reverb_approach(scratch.right, scratch.otherRight, plate.values, count)
  }

  // MARK: Control

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    let into = framesIntoQuantum
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: value / 100, over: rampFrames)
    case .preDelay:
      let seconds = Double(max(0, min(value, Self.longestPreDelay)))
      preDelay.move(to: Int32(seconds * sampleRate + 0.5), over: rampFrames)
    case .lowCut: lowCut.move(to: cutoff(value), over: rampFrames)
    case .highCut: highCut.move(to: cutoff(value), over: rampFrames)
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
      size = value
      resize(over: rampFrames)
    case .character:
      character = Int32(max(0, min(value, 3)) + 0.5)
      turnOver(over: rampFrames)
    case .shimmer:
      shimmer = max(0, min(value / 100, 1))
      turnOver(over: rampFrames)
    case .preset, nil: break
    }
  }

  @_noLocks
  private mutating func resize(over rampFrames: Int32) {
    if network.resize(to: (character == 1 ? 0.3 : 1) * size / 100, over: rampFrames) { change(over: rampFrames) }
  }

  /// Lets the input go where the character wants it.
  @_noLocks
  private mutating func turnOver(over rampFrames: Int32) {
    if networkRest == 0 && character != 2 {
      network.reset()
      diffuser.reset()
    }
    if springRest == 0 && character == 2 { spring.reset() }
    if plate.isZero { plateDiffuser.reset() }
    if octaveFeed.isZero {
      octave.reset()
      lastWet = .zero
    }
    networkFeed.move(to: character == 2 ? 0 : 1, over: rampFrames)
    springFeed.move(to: character == 2 ? 1 : 0, over: rampFrames)
    plate.move(to: character == 1 ? 1 : 0, over: rampFrames)
    octaveFeed.move(to: character == 3 ? 0.9 * shimmer : 0, over: rampFrames)
    networkRest = networkTail()
    if character == 2 || springRest > 0 { springRest = Tail.frames(springSeconds(), sampleRate: sampleRate) }
    if rampFrames <= 0 {
      if character == 2 { networkRest = 0 } else { springRest = 0 }
    }
    resize(over: rampFrames)
  }

  @_noLocks
  private func springSeconds() -> Double { Double(max(decayTime.value, decayTime.target)) * (140 + 24) / 60 + 0.5 }

  @_noLocks
  private func networkTail() -> Int64 {
    let octaves = octaveFeed.isZero ? 1 : 3.0
    let decay = Double(max(decayTime.value, decayTime.target)) * (140 + 24) / 60
    return Tail.frames(decay * octaves + 0.5, sampleRate: sampleRate)
  }

  @_noLocks
  mutating func reset() {
    networkFeed.settle()
    springFeed.settle()
    plate.settle()
    octaveFeed.settle()
    plateDiffuser.reset()
    spring.reset()
    octave.reset()
    lastWet = .zero
    networkRest = character == 2 ? 0 : .max
    springRest = character == 2 ? .max : 0
    preDelayLine.clear()
    backline_zero(scratch.band, 4)
    diffuser.reset()
    preDelay.settle()
    mix.settle()
    width.settle()
    lowCut.settle()
    highCut.settle()
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
    let octaves = octaveFeed.isZero ? 1 : 3.0
    let decay = Double(max(decayTime.value, decayTime.target)) * (140 + 24) / 60
    return Tail.frames(decay * octaves + Double(preDelay.largest) / sampleRate + 0.5, sampleRate: sampleRate)
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
    // Of a unit impulse the lines hold the energy 1, spread over all their frames, at first; each output adds 16 of them.
    let total = Float(network.totalLength)
    let energy = 16 * Float(sampleRate) * decayTime.value / (13.815_511 * total)
    injection.move(to: Float(backline_sqrt(Double(0.5 / energy))), over: frames)
    let highRatio = backline_powf(10, -damping.value / 100)
    network.absorption.move(lengths: network.lengths, decayTime: decayTime.value, highRatio: highRatio, over: frames)
    diffuser.move(decayTime: decayTime.value * highRatio, over: frames)
    plateDiffuser.move(decayTime: decayTime.value * highRatio, over: frames)
    spring.move(decayTime: decayTime.value, over: frames)
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
