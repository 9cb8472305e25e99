import CJACK

/// The port handles of a session, in the order of their channels.
struct JACKPorts: @unchecked Sendable {
  // Why unchecked: the library's handles may be used on any thread.
  var inputs: [OpaquePointer] = []
  var outputs: [OpaquePointer] = []

  /// How many ports there are.
  var count: Int { inputs.count + outputs.count }
}

/// The short names of a session's ports.
struct JACKPortNames: Equatable {
  var inputs: [String] = []
  var outputs: [String] = []

  var all: [String] { inputs + outputs }
}
