import BacklineRealtime
import CBackline

/// Loudspeaker cabinets with a microphone before them, by convolution without latency.
///
/// The impulse responses are made for the sample rate when the unit is (`CabinetModel`), for every cabinet and microphone, so
/// that a change is only a change of the engine that the input goes to: the one before rings out.
public struct Cabinet: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case model, microphone, outputGain, wetDryMix }

  public static let description = UnitDescription(
    kind: "cabinet", title: "Cabinet",
    summary: "A loudspeaker cabinet with a microphone before it, for behind an amplifier.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .discrete(
        "model", "The drivers and the box: open backs are airy, closed ones tight.", CabinetModel.names, default: 2),
      .discrete(
        "microphone", "What stands before it: dynamic bites, ribbon is soft, condenser is open.",
        CabinetModel.microphones),
      .init("outputGain", "How loud the result is.", -48...12, default: 0, measure: .decibels),
      .init(
        "wetDryMix", "How much of the output comes from the cabinet: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
    ],
    make: { UnitInstance(Cabinet.self, $0) })

  public static let functions = UnitFunctions(
    render: cabinetRender, set: cabinetSet, reset: cabinetReset, tail: cabinetTail)

  private static var modelCount: Int { @_noLocks get { 5 } }
  private static var microphoneCount: Int { @_noLocks get { 3 } }

  /// One for each model and microphone.
  private let engines: UnsafeMutablePointer<ConvolutionEngine>
  private let wet: UnsafeMutablePointer<Float>
  private var convolution: ConvolutionSwitch
  private var heard = 6
  private var model = 2
  private var microphone = 0
  private var change: Int32 = 0
  private var level = Ramp(1)
  private var mix = Ramp(1)

  public init(_ format: UnitFormat) {
    let responses = CabinetModel.responses(sampleRate: format.sampleRate)
    engines = .allocate(capacity: responses.count)
    for (index, response) in responses.enumerated() {
      (engines + index).initialize(to: ConvolutionEngine([response]))
    }
    convolution = ConvolutionSwitch(engines + 6)
    wet = SampleMemory.allocate(2 * Int(Quantum.frames))
  }

  deinit {
    for index in 0..<Self.modelCount * Self.microphoneCount { engines[index].deallocate() }
    engines.deallocate()
    convolution.deallocate()
    SampleMemory.free(wet)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let leftWet = wet, rightWet = wet + Int(Quantum.frames)
    var cursor = QuantumCursor(frame: block.frame, count: block.frameCount)
    while cursor.next() {
      if cursor.startsQuantum { follow() }
      let left = block.input(0, 0) + cursor.offset, right = block.input(0, 1) + cursor.offset
      let leftOut = block.output(0, 0) + cursor.offset, rightOut = block.output(0, 1) + cursor.offset
      convolution.process(
        block.frame &+ Int64(cursor.offset), left, right, leftWet, rightWet, count: cursor.count)
      for i in 0..<cursor.count {
        let gain = level.next(), weight = mix.next()
        leftOut[i] = left[i] * (1 - weight) + leftWet[i] * gain * weight
        rightOut[i] = right[i] * (1 - weight) + rightWet[i] * gain * weight
      }
    }
  }

  /// At a quantum edge: goes over to another engine once the one before has rung out.
  @_noLocks
  private mutating func follow() {
    _ = convolution.finish()
    let wanted = model &* Self.microphoneCount &+ microphone
    if wanted == heard || !convolution.isFree { return }
    heard = wanted
    engines[wanted].clear()
    _ = convolution.take(engines + wanted, over: change)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .model:
      model = Int(max(0, min(value, Float(Self.modelCount &- 1))) + 0.5)
      change = rampFrames
    case .microphone:
      microphone = Int(max(0, min(value, Float(Self.microphoneCount &- 1))) + 0.5)
      change = rampFrames
    case .outputGain: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    _ = convolution.clear()
    heard = model &* Self.microphoneCount &+ microphone
    engines[heard].clear()
    _ = convolution.take(engines + heard, over: 0)
    level.settle()
    mix.settle()
  }

  /// The longest response.
  @_noLocks
  func tail() -> Int64 { convolution.tail &+ 1 }
}

@_noLocks
private func cabinetRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Cabinet.self).pointee.render(block.pointee)
}

@_noLocks
private func cabinetSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Cabinet.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func cabinetReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Cabinet.self).pointee.reset()
}

@_noLocks
private func cabinetTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Cabinet.self).pointee.tail()
}
