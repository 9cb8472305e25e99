/// What a preset may ask for.
public struct PresetLimits: Sendable {
  /// The bytes of a file.
  public var size = 16 << 20
  /// Host ports in each direction.
  public var ports = 64
  /// The bytes of a port's name.
  public var portNameLength = 128
  public var nodes = 16_384
  public var connections = 65_536
  /// The channels of a bus.
  public var channels = 32
  /// The bytes of the title.
  public var nameLength = 256
  /// The problems that are told before only their number is.
  public var problems = 100

  public init() {}
}
