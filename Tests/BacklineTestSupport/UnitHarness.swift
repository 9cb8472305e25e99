import BacklineDSP
import BacklineRealtime
import CBackline

/// Runs one unit outside any graph, cut into blocks as a test says, with parameter sets at exact frames.
///
/// It does what a plan does for a unit: cuts at event frames, flushes denormals, offers connected and unconnected buses.
/// It never skips a silent unit, so what a test sees is the unit's own arithmetic. A unit with growing inputs gets as many
/// buses as a signal is given for.
public final class UnitHarness {
  /// A parameter set at a frame.
  public struct Event {
    public var frame: Int
    public var parameter: String
    public var value: Float
    /// Frames; the format's ramp where `nil`.
    public var ramp: Int32?

    public init(_ frame: Int, _ parameter: String, _ value: Float, ramp: Int32? = nil) {
      self.frame = frame
      self.parameter = parameter
      self.value = value
      self.ramp = ramp
    }
  }

  public let description: UnitDescription
  public let sampleRate: Double
  public let rampFrames: Int32
  public let instance: UnitInstance
  /// True where blocks of zeros on connected buses are announced as silent, as a plan may do.
  public var announcesSilence = false
  private let readings: UnsafeMutablePointer<Float>
  private var frame: Int64

  /// A new instance with these parameters, the others at their defaults, that renders from `startFrame` on. Where
  /// `setsDefaults` is false, the defaults are left to the instance.
  public init(
    _ description: UnitDescription, sampleRate: Double = 48_000, parameters: [String: Float] = [:],
    startFrame: Int64 = 0, setsDefaults: Bool = true
  ) {
    self.description = description
    frame = startFrame
    self.sampleRate = sampleRate
    rampFrames = Int32(sampleRate / 100)
    readings = .allocate(capacity: max(1, description.parameters.count))
    readings.initialize(repeating: 0, count: max(1, description.parameters.count))
    instance = description.make(UnitFormat(sampleRate: sampleRate, rampFrames: rampFrames, readings: readings))
    for (index, parameter) in description.parameters.enumerated() where setsDefaults && !parameter.isReadOnly {
      instance.functions.set(instance.state, Int32(index), parameters[parameter.name] ?? parameter.defaultValue, 0)
    }
    for (name, value) in parameters { set(name, value, ramp: 0) }
    instance.functions.reset(instance.state)
  }

  deinit {
    instance.deallocate()
    readings.deallocate()
  }

  /// The index of a parameter; those of growing inputs follow the unit's own, bus by bus.
  public func index(of parameter: String) -> Int? {
    if let index = description.parameters.firstIndex(where: { $0.name == parameter }) { return index }
    let each = description.inputParameters
    guard parameter.hasPrefix("input"),
      let last = each.firstIndex(where: { parameter.hasSuffix($0.name) }),
      let bus = Int(parameter.dropFirst(5).dropLast(each[last].name.count))
    else { return nil }
    return description.parameters.count + bus * each.count + last
  }

  /// What the unit has measured.
  public func reading(_ parameter: String) -> Float {
    guard let index = index(of: parameter) else { return .nan }
    return backline_load_float(readings + index)
  }

  public func set(_ parameter: String, _ value: Float, ramp: Int32? = nil) {
    guard let index = index(of: parameter) else { preconditionFailure("no parameter \(parameter)") }
    if index >= description.parameters.count {
      instance.reserveInputs?((index - description.parameters.count) / description.inputParameters.count + 1)
    }
    instance.functions.set(instance.state, Int32(index), value, ramp ?? rampFrames)
  }

  /// The frames that the unit's sound goes on for after the input has ended.
  public func tail() -> Int64 { instance.functions.tail(instance.state) }

  public func reset() { instance.functions.reset(instance.state) }

  /// Renders `inputs` (bus, channel, frame; an empty bus is not connected) in blocks of the lengths that `cuts` gives in
  /// turn, again and again. Returns the output buses the same way.
  public func render(
    _ inputs: [[[Float]]], frames: Int? = nil, cuts: [Int] = [256], events: [Event] = []
  ) -> [[[Float]]] {
    let total = frames ?? inputs.flatMap { $0 }.map(\.count).max() ?? 0
    let before = backline_flush_denormals()
    defer { backline_restore_denormals(before) }
    var outputs = description.outputs.map { [[Float]](repeating: [], count: $0.channelCount) }
    let capacity = max(1, cuts.max() ?? 1)
    instance.reserveInputs?(inputs.count)
    let memory = BlockMemory(description, inputs: inputs, capacity: capacity)
    let sorted = events.sorted { $0.frame < $1.frame }
    var nextEvent = 0
    var position = 0
    var cut = 0
    while position < total {
      while nextEvent < sorted.count && sorted[nextEvent].frame <= position {
        let event = sorted[nextEvent]
        set(event.parameter, event.value, ramp: event.ramp)
        nextEvent += 1
      }
      var count = min(cuts[cut % cuts.count], total - position)
      cut += 1
      if nextEvent < sorted.count { count = min(count, sorted[nextEvent].frame - position) }
      if count <= 0 { continue }
      memory.load(inputs, at: position, count: count)
      if announcesSilence { memory.announceSilence(count) }
      memory.render(instance, frame: frame, count: count)
      memory.collect(&outputs, count: count)
      frame += Int64(count)
      position += count
    }
    return outputs
  }
}

/// The buses of one block.
private final class BlockMemory {
  let inputs: [[UnsafeMutablePointer<Float>]]
  let outputs: [[UnsafeMutablePointer<Float>]]
  private var inputTables: [UnsafeMutablePointer<UnsafeMutablePointer<Float>>] = []
  private var outputTables: [UnsafeMutablePointer<UnsafeMutablePointer<Float>>] = []
  private var inputBuses: [BusBuffer] = []
  private var outputBuses: [BusBuffer] = []

  init(_ description: UnitDescription, inputs signals: [[[Float]]], capacity: Int) {
    let isGrowing = description.growingInputs != nil
    let busCount = isGrowing ? signals.count : description.inputs.count
    inputs = (0..<busCount).map { bus in
      let model = description.inputs[isGrowing ? 0 : bus]
      return (0..<model.channelCount).map { _ in SampleMemory.allocate(capacity) }
    }
    outputs = description.outputs.map { bus in (0..<bus.channelCount).map { _ in SampleMemory.allocate(capacity) } }
    inputTables = inputs.map(Self.table)
    outputTables = outputs.map(Self.table)
    for (index, table) in inputTables.enumerated() {
      let isConnected = index < signals.count && !signals[index].isEmpty
      inputBuses.append(
        BusBuffer(
          channels: table, channelCount: Int32(inputs[index].count), isConnected: isConnected, isSilent: !isConnected))
    }
    for (index, table) in outputTables.enumerated() {
      outputBuses.append(
        BusBuffer(channels: table, channelCount: Int32(outputs[index].count), isConnected: true, isSilent: false))
    }
  }

  deinit {
    for channel in (inputs + outputs).flatMap({ $0 }) { SampleMemory.free(channel) }
    for table in inputTables + outputTables { table.deallocate() }
  }

  private static func table(
    _ channels: [UnsafeMutablePointer<Float>]
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<Float>> {
    let table = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: max(1, channels.count))
    for (index, channel) in channels.enumerated() { (table + index).initialize(to: channel) }
    return table
  }

  func load(_ signals: [[[Float]]], at position: Int, count: Int) {
    for (bus, channels) in inputs.enumerated() {
      for (channel, memory) in channels.enumerated() {
        for i in 0..<count {
          let signal = bus < signals.count && channel < signals[bus].count ? signals[bus][channel] : []
          memory[i] = position + i < signal.count ? signal[position + i] : 0
        }
      }
    }
  }

  func announceSilence(_ count: Int) {
    for (bus, channels) in inputs.enumerated() {
      inputBuses[bus].isSilent = channels.allSatisfy { channel in (0..<count).allSatisfy { channel[$0] == 0 } }
    }
  }

  func render(_ instance: UnitInstance, frame: Int64, count: Int) {
    for index in outputBuses.indices { outputBuses[index].isSilent = false }
    inputBuses.withUnsafeBufferPointer { inputs in
      outputBuses.withUnsafeMutableBufferPointer { outputs in
        var block = RenderBlock(
          frame: frame, frameCount: Int32(count), inputCount: Int32(inputs.count), outputCount: Int32(outputs.count),
          inputs: inputs.baseAddress, outputs: outputs.baseAddress)
        // What a unit does here is what it may do on a render thread, which RealtimeSanitizer watches.
        backline_realtime_enter()
        defer { backline_realtime_exit() }
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

  func collect(_ result: inout [[[Float]]], count: Int) {
    for (bus, channels) in outputs.enumerated() {
      for (channel, memory) in channels.enumerated() {
        let isSilent = outputBuses[bus].isSilent
        for i in 0..<count { result[bus][channel].append(isSilent ? 0 : memory[i]) }
      }
    }
  }
}
