import BacklineRealtime
import CBackline

/// The loss of each line of the reverb: one high shelf of the first order a line.
///
/// A line of m frames must lose 60 · m / (T · rate) dB a pass for all of the room to lose 60 dB in T seconds (Jot and
/// Chaigne, "Digital delay networks for designing artificial reverberators", AES 90, 1991). T is the decay time at 800 Hz,
/// where the gain is set, and within a tenth of it from 500 to 1000 Hz; above the shelf's crossover it is shorter.
struct ReverbAbsorption: ~Copyable {
  /// Above it, in Hz, the high decay time holds.
  private static var crossover: Double { 6000 }
  /// Where, in Hz, the decay time holds.
  private static var middle: Double { 800 }
  private static var lines: Int { @_noLocks get { BacklineReverbLines } }

  private let sampleRate: Double
  private let warped: Float
  /// The square of the middle frequency over the crossover.
  private let middleSquare: Float
  let shelves: UnsafeMutablePointer<ReverbShelves>
  /// b0, b1 and a1 of all lines, where they move to; the shelves begin with the same three rows.
  private let goals: UnsafeMutablePointer<Float>
  /// The frames until they are there.
  private(set) var remaining: Int32 = 0

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    let warped = backline_tan(.pi * min(Self.crossover / sampleRate, 0.4))
    let middle = backline_tan(.pi * min(Self.middle / sampleRate, 0.2)) / warped
    self.warped = Float(warped)
    middleSquare = Float(middle * middle)
    shelves = .allocate(capacity: 1)
    shelves.initialize(to: ReverbShelves())
    goals = SampleMemory.allocate(3 * Self.lines)
  }

  deinit {
    shelves.deallocate()
    SampleMemory.free(goals)
  }

  /// Moves to the loss of lines of these lengths over `frames` frames; at once when there are none.
  ///
  /// `decayTime` in seconds; `highRatio` is the decay time above the crossover as a part of it, 0 to 1.
  @_noLocks
  mutating func move(
    lengths: UnsafePointer<Int32>, decayTime: Float, highRatio: Float, over frames: Int32
  ) {
    let perFrame = -6.907_755_3 / (Float(sampleRate) * decayTime)
    let slope = 0.25 * (1 / highRatio - 1)
    for line in 0..<Self.lines {
      let logarithm = perFrame * Float(lengths[line])
      // The analogue shelf (1 + s·q³) / (1 + s/q), whose gain at infinity is q⁴: where that is much, the pole moves down less
      // than the zero moves up, so that the middle is spared. At most 80 dB a pass, which keeps the pole away from 1.
      let q = max(backline_expf(logarithm * slope), 0.1)
      let numerator = q * q * q, denominator = 1 / q
      let atMiddle = (1 + middleSquare * numerator * numerator) / (1 + middleSquare * denominator * denominator)
      // The quarter is the scale of the matrix behind, by which it keeps the energy.
      let gain = 0.25 * backline_expf(logarithm) / Float(backline_sqrt(Double(atMiddle)))
      let scale = 1 / (warped + denominator)
      goals[line] = gain * (warped + numerator) * scale
      goals[Self.lines &+ line] = gain * (warped - numerator) * scale
      goals[2 &* Self.lines &+ line] = (warped - denominator) * scale
    }
    if frames <= 0 { return settle() }
    let part = 1 / Float(frames)
    let now = rows, steps = rows + 3 &* Self.lines
    for index in 0..<3 &* Self.lines { steps[index] = (goals[index] - now[index]) * part }
    remaining = frames
  }

  /// True while the coefficients move.
  var isMoving: Bool { @inline(__always) @_noLocks get { remaining > 0 } }

  /// Tells that `frames` frames have been filtered, at most those that remain.
  @inline(__always) @_noLocks
  mutating func advance(by frames: Int32) {
    if remaining == 0 { return }
    remaining &-= frames
    if remaining <= 0 { settle() }
  }

  /// Forgets the past and ends the movement.
  @_noLocks
  mutating func reset() {
    settle()
    backline_zero(rows + 6 &* Self.lines, Int64(2 &* Self.lines))
  }

  private var rows: UnsafeMutablePointer<Float> {
    @_noLocks get { UnsafeMutableRawPointer(shelves).assumingMemoryBound(to: Float.self) }
  }

  @_noLocks
  private mutating func settle() {
    let now = rows
    for index in 0..<3 &* Self.lines { now[index] = goals[index] }
    remaining = 0
  }
}
