import BacklineDSP

/// Mixes any number of inputs, of any rate and any number of channels, to two channels at the engine's rate.
///
/// One channel goes to both sides; of more than two, those with even numbers go left and the others right, each side at the
/// level of one. Each input has the volume and pan of the node behind it (`AudioNode.volume`, `AudioNode.pan`).
public final class MixerNode: AudioNode, @unchecked Sendable {
  private let values = StoredValues(Mixer.description)

  /// A mixer; attach it to an engine.
  public override init() {}

  public override var inputCount: Int { Mixer.description.growingInputs ?? 1 }
  public override var outputCount: Int { 1 }
  override var kindName: String { "mixer" }
  override var isMixing: Bool { true }

  override func realization(kind: String, channelCount: Int) -> NodeRealization? { .catalog(Mixer.description) }
  override var initialValues: [(index: Int, value: Float)] { values.all }

  /// The volume of the mix: 1 leaves it, 0 is silence; numbers outside are taken as the nearest. Moves smoothly.
  public var outputVolume: Float {
    get { values["outputVolume"] ?? 1 }
    set {
      let value = newValue >= 0 ? min(newValue, 1) : 0
      guard let index = values.set("outputVolume", value) else { return }
      try? engine?.setParameter(of: self, index, value, ramp: nil)
    }
  }

  /// The first input that nothing is connected to.
  public var nextAvailableInputBus: Int { engine?.nextFreeInput(of: self) ?? 0 }
}
