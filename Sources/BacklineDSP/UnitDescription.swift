/// What a unit is: its buses, parameters and how to make one. The one declaration that everything else reads.
public struct UnitDescription: Sendable {
  /// One input or output.
  public struct Bus: Sendable, Equatable {
    public let name: String
    /// 1 to 32.
    public let channelCount: Int
    /// A side chain and the like: the unit works without it.
    public let isOptional: Bool

    public init(_ name: String, channels: Int = 2, isOptional: Bool = false) {
      self.name = name
      channelCount = channels
      self.isOptional = isOptional
    }
  }

  /// A bus that has host ports of its own, by its number.
  public enum OutsideBus: Sendable, Equatable {
    case input(Int)
    case output(Int)
  }

  /// The name of the kind, lowerCamelCase.
  public let kind: String
  public let title: String
  /// What it is for, a sentence or two.
  public let summary: String
  public let inputs: [Bus]
  public let outputs: [Bus]
  public let parameters: [ParameterDescription]
  /// The most input buses of a unit that grows one per connection (a mixer); `nil` where `inputs` is all there is.
  ///
  /// Such a unit has `inputs[0]` as the model of each bus and `inputParameters` for each, named `inputNParameter`.
  public let growingInputs: Int?
  /// The parameters of each growing input bus, by their last part (`Volume`, `Pan`).
  public let inputParameters: [ParameterDescription]
  /// What a file is to it, a word or two, of a unit that works with one; `nil` for most.
  public let file: String?
  /// Settings that have a name; the parameter `preset` chooses among them.
  public let presets: [UnitPreset]
  /// The bus that gets host ports of its own when a node of this kind is added.
  public let outsideBus: OutsideBus?
  /// The bytes that an instance takes at most, at 48 kHz; in proportion more at higher rates.
  public let memory: Int
  /// The unit's delay in frames for a sample rate and parameter values (by index); 0 for most.
  public let latency: @Sendable (_ sampleRate: Double, _ values: [Float]) -> Int
  /// Makes an instance; control threads only.
  public let make: @Sendable (_ format: UnitFormat) -> UnitInstance

  public init(
    kind: String, title: String, summary: String, inputs: [Bus], outputs: [Bus], parameters: [ParameterDescription],
    growingInputs: Int? = nil, inputParameters: [ParameterDescription] = [], file: String? = nil,
    presets: [UnitPreset] = [], outsideBus: OutsideBus? = nil, memory: Int = 32 << 20,
    latency: @escaping @Sendable (Double, [Float]) -> Int = { _, _ in 0 },
    make: @escaping @Sendable (UnitFormat) -> UnitInstance
  ) {
    self.kind = kind
    self.title = title
    self.summary = summary
    self.inputs = inputs
    self.outputs = outputs
    self.parameters = parameters
    self.growingInputs = growingInputs
    self.inputParameters = inputParameters
    self.file = file
    self.presets = presets
    self.outsideBus = outsideBus
    self.memory = memory
    self.latency = latency
    self.make = make
  }
}
