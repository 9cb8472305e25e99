import BacklineRealtime

/// Sixteen delay lines that feed each other: the late part of the reverb.
///
/// A feedback delay network (Jot and Chaigne, AES 90, 1991) with a Hadamard matrix, which is orthogonal, so that the
/// lines' absorption alone decides how fast the sound dies away. The lengths are primes, spread geometrically from 31 to
/// 97 ms at full size. A new size fades from the old taps to the new ones, as in `Delay`. Lines are read between samples
/// by a cubic of Lagrange, whose gain is nowhere above 1 (Laakso et al., "Splitting the unit delay", IEEE Signal
/// Processing Magazine, 1996). What goes in, comes out and is written is one vector over the lines.
struct ReverbNetwork: ~Copyable {
  /// The longest line in seconds.
  static var longestTime: Double { 0.099 }

  private let sampleRate: Double
  private let memory: UnsafeMutablePointer<Float>
  private let mask: Int
  private let stride: Int
  private let primes: PrimeTable
  private var position = 0
  private var written = 0
  /// In steps of a ten-thousandth.
  private var size: Crossfade
  private var measuredSize: Int32
  private var oldLengths: SIMD16<Int32>
  private(set) var lengths: SIMD16<Int32>
  var absorption: ReverbAbsorption
  var modulation: ReverbModulation

  /// A network of a size (0 to 1) with lengths from a table that reaches beyond the longest line and outlives it.
  init(sampleRate: Double, size: Float, primes: PrimeTable) {
    self.sampleRate = sampleRate
    self.primes = primes
    var frames = 64
    while frames < Int((Self.longestTime + ReverbModulation.longestTime) * sampleRate) + 64 { frames *= 2 }
    mask = frames - 1
    // Not a power of two, or the sixteen writes of a frame would fight for the same places in the cache.
    stride = frames + 16
    memory = SampleMemory.allocate(16 * stride)
    measuredSize = Self.steps(size)
    self.size = Crossfade(measuredSize)
    lengths = Self.lengths(measuredSize, sampleRate, primes)
    oldLengths = lengths
    absorption = ReverbAbsorption(sampleRate: sampleRate)
    modulation = ReverbModulation(sampleRate: sampleRate)
  }

  deinit { SampleMemory.free(memory) }

  /// True when no size is being faded.
  var isSettled: Bool { @inline(__always) @_noLocks get { size.isSettled } }

  /// Moves to a size, 0 to 1, over `frames` frames; true when `lengths` has changed.
  @_noLocks
  mutating func resize(to value: Float, over frames: Int32) -> Bool {
    size.move(to: Self.steps(value), over: frames)
    return measure()
  }

  /// Moves the fade on by one frame; true when it has gone over to other `lengths`.
  @inline(__always) @_noLocks
  mutating func advance() -> Bool {
    if size.isSettled { return false }
    size.advance()
    return measure()
  }

  /// Renders one frame.
  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD2<Float>) -> SIMD2<Float> {
    var sound = read(lengths)
    if !size.isSettled {
      let old = read(oldLengths)
      sound = old + (sound - old) * size.weight
    }
    modulation.advance()
    // Left goes into the even lines, right into the odd ones. The signs of the outputs are bent functions of the line's
    // number, orthogonal to each other: they correlate alike with every row of the matrix, so that no line's input is
    // heard again as a whole.
    let leftIn = SIMD16<Float>(1, 0, 1, 0, 1, 0, -1, 0, 1, 0, -1, 0, 1, 0, 1, 0) * 0.353_553_4
    let rightIn = SIMD16<Float>(0, 1, 0, -1, 0, 1, 0, 1, 0, 1, 0, 1, 0, -1, 0, 1) * 0.353_553_4
    let leftOut = SIMD16<Float>(1, 1, 1, -1, 1, 1, 1, -1, 1, 1, 1, -1, -1, -1, -1, 1)
    let rightOut = SIMD16<Float>(1, -1, 1, 1, 1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1)
    write(Self.mix(absorption.process(sound)) + leftIn * input.x + rightIn * input.y)
    return SIMD2((sound * leftOut).sum(), (sound * rightOut).sum())
  }

  /// Forgets the past, in no time, and ends the fade.
  @_noLocks
  mutating func reset() {
    position = 0
    written = 0
    size.settle()
    _ = measure()
    oldLengths = lengths
    absorption.reset()
    modulation.reset()
  }

  /// The lengths of the lines for a size, each a prime of its own.
  @_noLocks
  private static func lengths(_ size: Int32, _ sampleRate: Double, _ primes: PrimeTable) -> SIMD16<Int32> {
    let scale = sampleRate * (0.2 + 0.8 * Double(size) / 10_000)
    var lengths = SIMD16<Int32>(repeating: 0)
    var seconds = 0.031
    var last: Int32 = 0
    for line in 0..<16 {
      last = primes.prime(from: max(last &+ 1, Int32(seconds * scale)))
      lengths[line] = last
      seconds *= 1.079_004  // the fifteenth root of 97 / 31
    }
    return lengths
  }

  @_noLocks
  private static func steps(_ size: Float) -> Int32 { Int32(max(0, min(size, 1)) * 10_000 + 0.5) }

  @_noLocks
  private mutating func measure() -> Bool {
    if size.to == measuredSize {
      return false
    }
    measuredSize = size.to
    oldLengths = lengths
    lengths = Self.lengths(measuredSize, sampleRate, primes)
    return true
  }

  /// The fast Hadamard transform, scaled to keep the energy.
  @inline(__always) @_noLocks
  private static func mix(_ lines: SIMD16<Float>) -> SIMD16<Float> {
    var mixed = lines
    for _ in 0..<4 {
      let even = mixed.evenHalf, odd = mixed.oddHalf
      mixed = SIMD16(lowHalf: even + odd, highHalf: even - odd)
    }
    return mixed * 0.25
  }

  @inline(__always) @_noLocks
  private mutating func write(_ frame: SIMD16<Float>) {
    var at = memory + position
    for line in 0..<16 {
      at.pointee = frame[line]
      at += stride
    }
    if position < 4 { writeBeyond(frame) }
    position = (position &+ 1) & mask
    if written <= mask { written &+= 1 }
  }

  /// Repeats the start of the ring after its end, so that four samples can be read at once from anywhere.
  @_noLocks
  private func writeBeyond(_ frame: SIMD16<Float>) {
    for line in 0..<16 { memory[line &* stride &+ mask &+ 1 &+ position] = frame[line] }
  }

  @inline(__always) @_noLocks
  private func read(_ lengths: SIMD16<Int32>) -> SIMD16<Float> {
    SIMD16(
      lowHalf: SIMD8(lowHalf: read(lengths, from: 0), highHalf: read(lengths, from: 4)),
      highHalf: SIMD8(lowHalf: read(lengths, from: 8), highHalf: read(lengths, from: 12)))
  }

  /// Four lines: the four weighted samples of each, then added across.
  @inline(__always) @_noLocks
  private func read(_ lengths: SIMD16<Int32>, from line: Int) -> SIMD4<Float> {
    let first = SIMD8(lowHalf: tap(lengths, line), highHalf: tap(lengths, line &+ 1))
    let second = SIMD8(lowHalf: tap(lengths, line &+ 2), highHalf: tap(lengths, line &+ 3))
    let pairs = SIMD8(lowHalf: first.evenHalf + first.oddHalf, highHalf: second.evenHalf + second.oddHalf)
    return pairs.evenHalf + pairs.oddHalf
  }

  /// The four samples around a line's end, times the weights of the cubic.
  @inline(__always) @_noLocks
  private func tap(_ lengths: SIMD16<Int32>, _ line: Int) -> SIMD4<Float> {
    let offset = modulation.offsets[line]
    let whole = offset &>> ReverbModulation.fractionBits
    let oldest = Int(lengths[line] &+ whole &+ 2)
    let start = line &* stride &+ ((position &- oldest) & mask)
    var samples = UnsafeRawPointer(memory + start).loadUnaligned(as: SIMD4<Float>.self)
    if oldest > written { samples = Self.hideUnwritten(samples, oldest: oldest, written: written) }
    let t = Float(offset & (1 &<< ReverbModulation.fractionBits &- 1)) * 0x1p-20
    let third = SIMD4<Float>(1 / 6, -0.5, 0.5, -1 / 6)
    let second = SIMD4<Float>(0, 0.5, -1, 0.5)
    let first = SIMD4<Float>(-1 / 6, 1, -0.5, -1 / 3)
    return samples * (SIMD4<Float>(0, 0, 1, 0) + (first + (second + third * t) * t) * t)
  }

  /// Samples without those from before the last reset; `oldest` is the age of the first.
  @inline(never) @_noLocks
  private static func hideUnwritten(_ samples: SIMD4<Float>, oldest: Int, written: Int) -> SIMD4<Float> {
    var visible = samples
    for i in 0..<4 where oldest &- i > written { visible[i] = 0 }
    return visible
  }
}
