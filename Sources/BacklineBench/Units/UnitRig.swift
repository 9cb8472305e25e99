import BacklineDSP
import CBackline
import Glibc

/// One unit outside any graph, rendered block by block on noise.
final class UnitRig {
  /// Seconds of noise, played again and again.
  private static let noiseFrames = 48_000
  private static let sampleRate = 48_000.0

  private let instance: UnitInstance
  private let frames: Int
  private let readings: UnsafeMutablePointer<Float>
  private let inputs: [[UnsafeMutablePointer<Float>]]
  private let outputs: [[UnsafeMutablePointer<Float>]]
  /// The channels of the inputs, then of the outputs.
  private var tables: [UnsafeMutablePointer<UnsafeMutablePointer<Float>>] = []
  private var inputBuses: [BusBuffer] = []
  private var outputBuses: [BusBuffer] = []
  private var frame: Int64 = 0

  /// A unit with these parameters, all inputs connected, in blocks of `frames`.
  init(_ unit: UnitDescription, _ parameters: [String: Float], frames: Int) throws(BenchError) {
    self.frames = frames
    readings = .allocate(capacity: max(1, unit.parameters.count))
    readings.initialize(repeating: 0, count: max(1, unit.parameters.count))
    instance = unit.make(UnitFormat(sampleRate: Self.sampleRate, rampFrames: 480, readings: readings))
    let buses = unit.growingInputs == nil ? unit.inputs : [unit.inputs[0], unit.inputs[0]]
    instance.reserveInputs?(buses.count)
    var random = SplitMix(seed: 6)
    inputs = buses.map { bus in
      (0..<bus.channelCount).map { _ in
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: Self.noiseFrames + frames)
        for i in 0..<Self.noiseFrames + frames {
          // -20 dBFS RMS.
          (memory + i).initialize(to: Float.random(in: -0.1732...0.1732, using: &random))
        }
        return memory
      }
    }
    outputs = unit.outputs.map { bus in
      (0..<bus.channelCount).map { _ in
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: frames)
        memory.initialize(repeating: 0, count: frames)
        return memory
      }
    }
    for channels in inputs { inputBuses.append(bus(channels)) }
    for channels in outputs { outputBuses.append(bus(channels)) }
    for (name, value) in parameters {
      guard let index = unit.parameters.firstIndex(where: { $0.name == name }) else {
        throw BenchError("'\(unit.kind)' has no parameter '\(name)'")
      }
      instance.functions.set(instance.state, Int32(index), value, 0)
    }
    instance.functions.reset(instance.state)
  }

  deinit {
    instance.deallocate()
    readings.deallocate()
    for memory in (inputs + outputs).flatMap({ $0 }) { memory.deallocate() }
    for table in tables { table.deallocate() }
  }

  private func bus(_ channels: [UnsafeMutablePointer<Float>]) -> BusBuffer {
    let table = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: max(1, channels.count))
    for (index, channel) in channels.enumerated() { (table + index).initialize(to: channel) }
    tables.append(table)
    return BusBuffer(channels: table, channelCount: Int32(channels.count), isConnected: true, isSilent: false)
  }

  /// Loads an impulse response into a convolver.
  func load(_ response: ImpulseResponse) throws(ImpulseResponseError) {
    try (instance.control as? ConvolverControl)?.attach(response)
  }

  /// Renders for about `seconds` of sound; nanoseconds of the processor a frame, whatever else it has to do meanwhile.
  func time(seconds: Double) -> Double {
    let blocks = max(1, Int(seconds * Self.sampleRate) / frames)
    let denormals = backline_flush_denormals()
    defer { backline_restore_denormals(denormals) }
    let begin = Self.processorTime()
    for _ in 0..<blocks {
      let place = Int(frame % Int64(Self.noiseFrames))
      for (bus, channels) in inputs.enumerated() {
        for (channel, memory) in channels.enumerated() { tables[bus][channel] = memory + place }
      }
      for bus in outputBuses.indices { outputBuses[bus].isSilent = false }
      renderBlock()
      frame += Int64(frames)
    }
    return Double(Self.processorTime() - begin) / Double(blocks * frames)
  }

  /// What this thread has had of the processor, in nanoseconds.
  private static func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  private func renderBlock() {
    inputBuses.withUnsafeBufferPointer { inputs in
      outputBuses.withUnsafeMutableBufferPointer { outputs in
        var block = RenderBlock(
          frame: frame, frameCount: Int32(frames), inputCount: Int32(inputs.count),
          outputCount: Int32(outputs.count), inputs: inputs.baseAddress, outputs: outputs.baseAddress)
        if let accumulate = instance.functions.accumulate {
          for bus in 0..<inputs.count {
            block.inputs = inputs.baseAddress.map { $0 + bus }
            block.inputCount = 1
            accumulate(instance.state, Int32(bus), bus == 0, &block)
          }
          block.inputs = inputs.baseAddress
          block.inputCount = Int32(inputs.count)
        }
        instance.functions.render(instance.state, &block)
      }
    }
  }
}
