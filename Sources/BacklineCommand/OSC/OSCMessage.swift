/// One argument of a message: the types of OSC 1.0 and those of its customary extensions.
enum OSCArgument: Hashable, Sendable {
  case int32(Int32)
  case int64(Int64)
  case float(Float)
  case double(Double)
  case string(String)
  case symbol(String)
  case blob([UInt8])
  /// An ASCII character.
  case character(UInt8)
  /// NTP seconds and fractions.
  case timeTag(UInt64)
  /// Port, status and two data bytes, the port in the highest byte.
  case midi(UInt32)
  case `true`
  case `false`
  case `nil`
  case impulse
}

/// A message by value.
struct OSCMessage: Hashable, Sendable {
  var address: String
  var arguments: [OSCArgument]

  init(_ address: String, _ arguments: [OSCArgument] = []) {
    self.address = address
    self.arguments = arguments
  }
}
