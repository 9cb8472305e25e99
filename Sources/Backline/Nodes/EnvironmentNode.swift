import BacklineDSP
import CBackline
import Synchronization

/// A place or a direction: metres to the right, up, and to the back.
public struct AudioPosition: Sendable, Hashable {
  /// Metres to the right.
  public var x: Float
  /// Metres up.
  public var y: Float
  /// Metres to the back.
  public var z: Float

  /// A place; the origin where nothing is said.
  public init(x: Float = 0, y: Float = 0, z: Float = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The listener's own place.
  public static let origin = AudioPosition()

  var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}

/// How sound gets softer with distance.
public struct DistanceModel: Sendable, Hashable {
  /// The laws.
  public enum Law: String, Sendable, CaseIterable {
    /// By the reference distance over itself plus the roll-off times what is beyond: natural for 1.
    case inverse
    /// By a power of the distance over the reference distance.
    case exponential
    /// In a straight line from the reference distance to the maximum.
    case linear
  }

  /// The law.
  public var law: Law
  /// Metres up to which nothing gets softer; above 0.
  public var referenceDistance: Float
  /// Metres from which nothing gets softer any more; not below the reference distance.
  public var maximumDistance: Float
  /// How fast it gets softer; 0 or more.
  public var rolloffFactor: Float

  /// A model; the defaults leave nearly everything to the law.
  public init(
    _ law: Law = .inverse, referenceDistance: Float = 1, maximumDistance: Float = 100_000, rolloffFactor: Float = 1
  ) {
    self.law = law
    self.referenceDistance = referenceDistance
    self.maximumDistance = maximumDistance
    self.rolloffFactor = rolloffFactor
  }

  /// The factor at a distance, 0 to 1 (the laws are those of OpenAL 1.1, section 3.4, clamped).
  public func gain(at distance: Float) -> Float {
    let held = min(max(distance, referenceDistance), maximumDistance)
    let gain: Float
    switch law {
    case .inverse:
      gain = referenceDistance / (referenceDistance + rolloffFactor * (held - referenceDistance))
    case .exponential:
      gain = backline_powf(held / referenceDistance, -rolloffFactor)
    case .linear:
      let span = maximumDistance - referenceDistance
      gain = span > 0 ? 1 - min(1, rolloffFactor) * (held - referenceDistance) / span : 1
    }
    return gain.isFinite ? min(max(gain, 0), 1) : 0
  }

  var isValid: Bool {
    referenceDistance.isFinite && referenceDistance > 0 && maximumDistance.isFinite && rolloffFactor.isFinite
      && maximumDistance >= referenceDistance && rolloffFactor >= 0
  }
}

/// A mixer that places its sources around a listener: by distance and by direction, left to right, with equal power.
///
/// A source of one channel is placed; one of more channels passes as it is, only softer with distance. There are no cues for
/// headphones, no elevation and no Doppler shift. Sources are placed by `AudioNode.position3D`; moves are smooth.
public final class EnvironmentNode: AudioNode, @unchecked Sendable {
  private struct State {
    var listener = AudioPosition.origin
    var yaw: Float = 0
    var model = DistanceModel()
  }

  private let state = Mutex(State())
  private let values = StoredValues(Mixer.description)

  /// An environment with the listener in its middle, who looks along -z; attach it to an engine.
  public override init() {}

  public override var inputCount: Int { Mixer.description.growingInputs ?? 1 }
  public override var outputCount: Int { 1 }
  override var kindName: String { "environment" }
  override var isMixing: Bool { true }
  override func realization(kind: String, channelCount: Int) -> NodeRealization? { .catalog(Mixer.description) }
  override var initialValues: [(index: Int, value: Float)] { values.all }

  /// The first input that nothing is connected to.
  public var nextAvailableInputBus: Int { engine?.nextFreeInput(of: self) ?? 0 }

  /// Where the listener is.
  public var listenerPosition: AudioPosition {
    get { state.withLock { $0.listener } }
    set {
      if !newValue.isFinite { return }
      state.withLock { $0.listener = newValue }
      engine?.applyMixing(into: self)
    }
  }

  /// Where the listener looks: degrees to the right of -z.
  public var listenerYaw: Float {
    get { state.withLock { $0.yaw } }
    set {
      if !newValue.isFinite { return }
      state.withLock { $0.yaw = newValue }
      engine?.applyMixing(into: self)
    }
  }

  /// How sound gets softer with distance.
  public var distanceModel: DistanceModel { state.withLock { $0.model } }

  /// Sets how sound gets softer with distance; refuses distances that cannot be.
  public func setDistanceModel(_ model: DistanceModel) throws(AudioError) {
    guard model.isValid else {
      throw AudioError(
        .outOfRange, "the reference distance is above 0, the maximum not below it, and the roll-off not below 0")
    }
    state.withLock { $0.model = model }
    engine?.applyMixing(into: self)
  }

  override func mixingValues(of source: AudioNode, _ own: MixingState.Values, channelCount: Int) -> MixingState.Values {
    let place = source.position3D
    let (listener, yaw, model) = state.withLock { ($0.listener, $0.yaw, $0.model) }
    let x = place.x - listener.x, y = place.y - listener.y, z = place.z - listener.z
    let distance = (x * x + y * y + z * z).squareRoot()
    let gain = own.volume * model.gain(at: distance)
    if channelCount != 1 || distance == 0 { return MixingState.Values(volume: gain, pan: own.pan) }
    let turn = yaw * .pi / 180
    // How far the source is to the right of where the listener looks, -1 to 1.
    let side = min(max((x * backline_cosf(turn) + z * backline_sinf(turn)) / distance, -1), 1)
    let left = backline_cosf((side + 1) * .pi / 4), right = backline_sinf((side + 1) * .pi / 4)
    // A mixer's strip turns the far side down, so both gains make one volume and one pan.
    let louder = max(left, right)
    return MixingState.Values(volume: gain * louder, pan: right > left ? 1 - left / right : right / left - 1)
  }
}
