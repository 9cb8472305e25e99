import Backline
import Foundation

/// A place: metres to the right, up, and to the back.
public struct AVAudio3DPoint: Sendable, Hashable {
  /// Metres to the right.
  public var x: Float
  /// Metres up.
  public var y: Float
  /// Metres to the back.
  public var z: Float

  /// The origin.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// A place.
  public init(x: Float, y: Float, z: Float) {
    self.x = x
    self.y = y
    self.z = z
  }
}

/// A place from its three numbers.
public func AVAudioMake3DPoint(_ x: Float, _ y: Float, _ z: Float) -> AVAudio3DPoint {
  AVAudio3DPoint(x: x, y: y, z: z)
}

/// Degrees: to the right, up, and over the side. Only the first is heard here.
public struct AVAudio3DAngularOrientation: Sendable, Hashable {
  /// Degrees to the right.
  public var yaw: Float
  /// Degrees up.
  public var pitch: Float
  /// Degrees over the side.
  public var roll: Float

  /// Straight ahead.
  public init() { self.init(yaw: 0, pitch: 0, roll: 0) }

  /// A direction.
  public init(yaw: Float, pitch: Float, roll: Float) {
    self.yaw = yaw
    self.pitch = pitch
    self.roll = roll
  }
}

/// How sound gets softer with distance.
public enum AVAudioEnvironmentDistanceAttenuationModel: Int, Sendable {
  case exponential = 1
  case inverse, linear
}

/// The numbers of that.
public class AVAudioEnvironmentDistanceAttenuationParameters: NSObject, @unchecked Sendable {
  // Why unchecked: the node underneath is Sendable.

  private let environment: EnvironmentNode

  init(_ environment: EnvironmentNode) { self.environment = environment }

  /// Sets what can be set; distances that cannot be are left as they were.
  private func change(_ body: (inout DistanceModel) -> Void) {
    var model = environment.distanceModel
    body(&model)
    try? environment.setDistanceModel(model)
  }

  /// The law.
  public var distanceAttenuationModel: AVAudioEnvironmentDistanceAttenuationModel {
    get {
      switch environment.distanceModel.law {
      case .inverse: .inverse
      case .exponential: .exponential
      case .linear: .linear
      }
    }
    set {
      change { model in
        switch newValue {
        case .inverse: model.law = .inverse
        case .exponential: model.law = .exponential
        case .linear: model.law = .linear
        }
      }
    }
  }

  /// Metres up to which nothing gets softer.
  public var referenceDistance: Float {
    get { environment.distanceModel.referenceDistance }
    set { change { $0.referenceDistance = newValue } }
  }

  /// Metres from which nothing gets softer any more.
  public var maximumDistance: Float {
    get { environment.distanceModel.maximumDistance }
    set { change { $0.maximumDistance = newValue } }
  }

  /// How fast it gets softer.
  public var rolloffFactor: Float {
    get { environment.distanceModel.rolloffFactor }
    set { change { $0.rolloffFactor = newValue } }
  }
}

/// Places its sources around a listener; see `EnvironmentNode`.
public class AVAudioEnvironmentNode: AVAudioNode, AVAudioMixing, @unchecked Sendable {
  private let environment: EnvironmentNode
  /// How sound gets softer with distance.
  public let distanceAttenuationParameters: AVAudioEnvironmentDistanceAttenuationParameters

  /// An environment with the listener in its middle.
  public init() {
    environment = EnvironmentNode()
    distanceAttenuationParameters = AVAudioEnvironmentDistanceAttenuationParameters(environment)
    super.init(environment)
  }

  /// Where the listener is.
  public var listenerPosition: AVAudio3DPoint {
    get {
      let place = environment.listenerPosition
      return AVAudio3DPoint(x: place.x, y: place.y, z: place.z)
    }
    set { environment.listenerPosition = AudioPosition(x: newValue.x, y: newValue.y, z: newValue.z) }
  }

  /// Only the yaw is heard.
  public var listenerAngularOrientation: AVAudio3DAngularOrientation {
    get { AVAudio3DAngularOrientation(yaw: environment.listenerYaw, pitch: 0, roll: 0) }
    set { environment.listenerYaw = newValue.yaw }
  }

  /// The first input that nothing is connected to.
  public var nextAvailableInputBus: AVAudioNodeBus { environment.nextAvailableInputBus }
}

extension AVAudioMixing where Self: AVAudioNode {
  /// Where the node is, for an environment that it goes to.
  public var position: AVAudio3DPoint {
    get {
      let place = node.position3D
      return AVAudio3DPoint(x: place.x, y: place.y, z: place.z)
    }
    set { node.position3D = AudioPosition(x: newValue.x, y: newValue.y, z: newValue.z) }
  }
}
