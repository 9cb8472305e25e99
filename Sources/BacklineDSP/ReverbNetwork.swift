import BacklineRealtime
import CBackline

/// Sixteen delay lines that feed each other: the late part of the reverb.
///
/// A feedback delay network (Jot and Chaigne, AES 90, 1991) with a Hadamard matrix, which is orthogonal, so that the
/// lines' absorption alone decides how fast the sound dies away. The lengths are primes, spread geometrically from 31 to
/// 97 ms at full size. A new size fades from the old taps to the new ones, as in `Delay`. Lines are read between samples
/// by a cubic of Lagrange, whose gain is nowhere above 1 (Laakso et al., "Splitting the unit delay", IEEE Signal
/// Processing Magazine, 1996).
///
/// The shortest line is longer than a quantum at every rate, so what is heard of a quantum does not depend on what goes in
/// during it: a part of a quantum is read at once, then written at once.
struct ReverbNetwork: ~Copyable {
  /// The longest line in seconds.
  static var longestTime: Double { 0.099 }
  private static var lines: Int { @_noLocks get { BacklineReverbLines } }
  private static var block: Int { @_noLocks get { BacklineBlockFrames } }

  private let sampleRate: Double
  private let primes: PrimeTable
  private var rings: BlockRings
  /// In steps of a ten-thousandth.
  private var size: Crossfade
  private var measuredSize: Int32
  /// The lengths of all lines, after them those that are faded from.
  private let allLengths: UnsafeMutablePointer<Int32>
  /// The lines' ends, after them those that are faded from, and the weights of the fade.
  private let sound: UnsafeMutablePointer<Float>
  /// Where the lines' ends are, after them those that are faded from.
  private let ends: UnsafeMutablePointer<UnsafePointer<Float>>
  var absorption: ReverbAbsorption
  var modulation: ReverbModulation

  /// A network of a size (0 to 1) with lengths from a table that reaches beyond the longest line and outlives it.
  init(sampleRate: Double, size: Float, primes: PrimeTable) {
    self.sampleRate = sampleRate
    self.primes = primes
    let longest = (Self.longestTime + ReverbModulation.longestTime) * sampleRate
    rings = BlockRings(count: Self.lines, longest: Int(longest) + 4)
    measuredSize = Self.steps(size)
    self.size = Crossfade(measuredSize)
    allLengths = .allocate(capacity: 2 * Self.lines)
    allLengths.initialize(repeating: 0, count: 2 * Self.lines)
    sound = SampleMemory.allocate((2 * Self.lines + 1) * Self.block)
    ends = .allocate(capacity: 2 * Self.lines)
    ends.initialize(repeating: UnsafePointer(sound), count: 2 * Self.lines)
    absorption = ReverbAbsorption(sampleRate: sampleRate)
    modulation = ReverbModulation(sampleRate: sampleRate)
    layOut()
    settleLengths()
  }

  deinit {
    rings.deallocate()
    allLengths.deallocate()
    SampleMemory.free(sound)
    ends.deallocate()
  }

  /// The lengths of the lines in frames.
  var lengths: UnsafePointer<Int32> { @_noLocks get { UnsafePointer(allLengths) } }

  /// All of them together.
  var totalLength: Int32 {
    @_noLocks get {
      var total: Int32 = 0
      for line in 0..<Self.lines { total &+= allLengths[line] }
      return total
    }
  }

  /// The frames that may be read at once: after them, something changes. At least one.
  var steadyFrames: Int {
    @inline(__always) @_noLocks get {
      var frames = Self.block
      if !size.isSettled { frames = min(frames, size.remaining) }
      if absorption.isMoving { frames = min(frames, Int(absorption.remaining)) }
      return frames
    }
  }

  /// Moves to a size, 0 to 1, over `frames` frames; true when `lengths` has changed.
  @_noLocks
  mutating func resize(to value: Float, over frames: Int32) -> Bool {
    size.move(to: Self.steps(value), over: frames)
    return measure()
  }

  /// What is heard in the coming `frames` frames, at most `steadyFrames`; to be followed by `write`.
  @inline(__always) @_noLocks
  mutating func read(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ frames: Int32) {
    read(allLengths, to: sound, ends, frames)
    if !size.isSettled { fade(frames) }
    backline_reverb_listen(ends, left, right, frames)
  }

  /// Lets in the same frames of the input, times `injection`, and moves on. True when the size has gone over to other
  /// `lengths`.
  @inline(__always) @_noLocks
  mutating func write(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, injection: UnsafePointer<Float>, _ frames: Int32
  ) -> Bool {
    backline_reverb_write(&rings, ends, absorption.shelves, absorption.isMoving, left, right, injection, frames)
    absorption.advance(by: frames)
    modulation.advance(by: frames)
    return skip(frames)
  }

  /// Moves on without sound. True when the size has gone over to other `lengths`.
  @inline(__always) @_noLocks
  mutating func skip(_ frames: Int32) -> Bool {
    if size.isSettled { return false }
    for _ in 0..<max(0, frames) { size.advance() }
    return measure()
  }

  /// Forgets the past, in no time, and ends the fade.
  @_noLocks
  mutating func reset() {
    rings.clear()
    size.settle()
    _ = measure()
    settleLengths()
    absorption.reset()
    modulation.reset()
  }

  @inline(__always) @_noLocks
  private mutating func read(
    _ lengths: UnsafePointer<Int32>, to sound: UnsafeMutablePointer<Float>,
    _ ends: UnsafeMutablePointer<UnsafePointer<Float>>, _ frames: Int32
  ) {
    backline_reverb_read(&rings, lengths, modulation.offsets, modulation.steps, sound, ends, frames)
  }

  @inline(never) @_noLocks
  private mutating func fade(_ frames: Int32) {
    let old = sound + Self.lines &* Self.block
    let weights = old + Self.lines &* Self.block
    let oldEnds = ends + Self.lines
    read(allLengths + Self.lines, to: old, oldEnds, frames)
    var size = size
    for frame in 0..<max(0, Int(frames)) {
      weights[frame] = size.weight
      size.advance()
    }
    backline_reverb_fade(sound, ends, oldEnds, weights, frames)
  }

  @_noLocks
  private static func steps(_ size: Float) -> Int32 { Int32(max(0, min(size, 1)) * 10_000 + 0.5) }

  @_noLocks
  private mutating func measure() -> Bool {
    if size.to == measuredSize { return false }
    measuredSize = size.to
    for line in 0..<Self.lines { allLengths[Self.lines &+ line] = allLengths[line] }
    layOut()
    return true
  }

  /// Sets the lengths of the lines for the size, each a prime of its own.
  @_noLocks
  private func layOut() {
    let scale = sampleRate * (0.2 + 0.8 * Double(measuredSize) / 10_000)
    var seconds = 0.031
    var last: Int32 = 0
    for line in 0..<Self.lines {
      last = primes.prime(from: max(last &+ 1, Int32(seconds * scale)))
      allLengths[line] = last
      seconds *= 1.079_004  // the fifteenth root of 97 / 31
    }
  }

  @_noLocks
  private func settleLengths() {
    for line in 0..<Self.lines { allLengths[Self.lines &+ line] = allLengths[line] }
  }
}
