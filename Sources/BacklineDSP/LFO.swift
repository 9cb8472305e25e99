import BacklineRealtime
import CBackline

/// The low-frequency oscillator of every unit that has one: shape, rate in Hz or by the tempo, and phase.
///
/// The phase is a 64-bit fraction of a turn and counts from absolute frame 0, as if the oscillator had run since then: after
/// a reset it stands where it would stand anyway, so that oscillators of one rate in different units stay together, live and
/// offline. A change of the rate goes on from the phase reached; one of the shape is crossfaded.
///
/// ```swift
/// lfo.begin(at: block.frame)          // before the first frame of a block
/// let left = lfo.value, right = lfo.value(ahead: quarterTurn)
/// lfo.advance()                       // after every frame
/// ```
struct LFO {
  /// Its parameters, in the order of `parameters`.
  enum Parameter: Int { case shape, rate, division, tempo }

  static var parameterCount: Int { @_noLocks get { 4 } }
  /// The length of what stands for a jump, in seconds.
  private static var edgeSeconds: Double { @_noLocks get { 0.004 } }

  /// The parameters for a unit's description, to be handed to `set` by their place: `shape`, `rate`, `division`, `tempo`.
  ///
  /// `shape`, `rate` and `division` get the prefix (`lfoRate`), where there is one; the tempo is the same for all of a unit.
  static func parameters(
    prefix: String = "", rate: Float = 1, fastest: Float = 20, shape: Int = 0
  ) -> [ParameterDescription] {
    func name(_ text: String) -> String {
      prefix.isEmpty ? text : prefix + text.prefix(1).uppercased() + text.dropFirst()
    }
    return [
      .discrete(name("shape"), "The wave that moves it.", LFOShape.names, default: shape),
      .init(
        name("rate"), "How often it goes round in a second, where `\(name("division"))` is free.", 0.01...fastest,
        default: rate, measure: .hertz, taper: .logarithmic),
      TempoDivision.parameter(
        name("division"), "How long one round takes by the tempo; free goes by `\(name("rate"))`."),
      TempoDivision.tempo,
    ]
  }

  private let sampleRate: Double
  private var shape: Crossfade
  private var freeRate: Double
  private var division: Int32 = 0
  private var tempo = 120.0
  /// The rate on the way to the one asked for, in Hz.
  private var rate: Ramp
  private var increment: UInt64 = 0
  private var edge: Float = 0.25
  private var phase: UInt64 = 0
  private var turn: Int64 = 0
  private var isPlaced = false

  /// An oscillator that runs free at `rate` Hz.
  @_noLocks
  init(sampleRate: Double, rate: Float = 1, shape: Int32 = 0) {
    self.sampleRate = sampleRate
    self.shape = Crossfade(shape)
    freeRate = Double(rate)
    self.rate = Ramp(rate)
    takeRate(Double(rate))
  }

  /// The rate asked for, in Hz.
  private var wantedRate: Double {
    @_noLocks get {
      let beats = TempoDivision.beats(division)
      return beats > 0 ? tempo / 60 / beats : freeRate
    }
  }

  // MARK: Control

  /// Takes the new value of a parameter; a rate moves over `frames` frames.
  @_noLocks
  mutating func set(_ parameter: Parameter, to value: Float, over frames: Int32) {
    switch parameter {
    case .shape:
      shape.move(to: Int32(max(0, min(value, Float(LFOShape.last))) + 0.5), over: frames)
      return
    case .rate: freeRate = Double(max(0, min(value, 20_000)))
    case .division: division = Int32(max(0, min(value, 100)) + 0.5)
    case .tempo: tempo = Double(max(1, min(value, 10_000)))
    }
    rate.move(to: Float(wantedRate), over: frames)
    if rate.isSettled { takeRate(wantedRate) }
  }

  /// Ends every movement. The phase is found anew at the next `begin`.
  @_noLocks
  mutating func reset() {
    shape.settle()
    rate.settle()
    takeRate(wantedRate)
    isPlaced = false
  }

  /// Gives the phase up while nobody listens: it is found anew at the next `begin`.
  @inline(__always) @_noLocks
  mutating func lose() { isPlaced = false }

  @_noLocks
  private mutating func takeRate(_ hertz: Double) {
    let turns = max(0, min(hertz / sampleRate, 0.5))
    increment = UInt64(turns * 0x1p64)
    edge = Float(min(0.25, max(1e-9, turns * Self.edgeSeconds * sampleRate)))
  }

  // MARK: Rendering

  /// True while the rate or the shape moves.
  var isMoving: Bool { @inline(__always) @_noLocks get { !(rate.isSettled && shape.isSettled) } }

  /// Tells the absolute frame at which `value` will be asked next.
  @inline(__always) @_noLocks
  mutating func begin(at frame: Int64) {
    if !isPlaced { place(frame) }
  }

  @_noLocks
  private mutating func place(_ frame: Int64) {
    let product = increment.multipliedFullWidth(by: UInt64(bitPattern: frame))
    turn = Int64(bitPattern: product.high)
    phase = product.low
    isPlaced = true
  }

  /// The value at the present frame, -1 to 1.
  var value: Float { @inline(__always) @_noLocks get { value(ahead: 0) } }

  /// The value that comes `phase` later (2^64 is a turn), for a second channel.
  @inline(__always) @_noLocks
  func value(ahead: UInt64) -> Float {
    let sum = phase.addingReportingOverflow(ahead)
    let turn = sum.overflow ? turn &+ 1 : turn
    let value = LFOShape.value(shape.to, phase: sum.partialValue, turn: turn, edge: edge)
    if shape.isSettled { return value }
    let old = LFOShape.value(shape.from, phase: sum.partialValue, turn: turn, edge: edge)
    return old + shape.weight * (value - old)
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() {
    let sum = phase.addingReportingOverflow(increment)
    phase = sum.partialValue
    if sum.overflow { turn &+= 1 }
    if isMoving { move() }
  }

  @_noLocks
  private mutating func move() {
    shape.advance()
    if rate.isSettled { return }
    rate.advance()
    takeRate(rate.isSettled ? wantedRate : Double(rate.value))
  }

  /// A part of a turn for `value(ahead:)`; of 1 and more, what is left of whole turns.
  @_noLocks
  static func phase(turns: Float) -> UInt64 {
    let part = Double(turns) - backline_floor(Double(turns))
    return UInt64(min(part, 0x1.fffffffffffffp-1) * 0x1p64)
  }
}
