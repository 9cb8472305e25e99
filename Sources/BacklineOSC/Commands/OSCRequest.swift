import BacklineEngine

/// One command as it came in: its address, its arguments, who wants the answer.
public struct OSCRequest: Sendable {
  public let address: String
  public let arguments: [OSCArgument]
  /// Who sent it.
  public let peer: OSCPeer
  /// What the answer has to carry, where the command came with an id.
  public let id: OSCArgument?

  public init(address: String, arguments: [OSCArgument], peer: OSCPeer, id: OSCArgument?) {
    self.address = address
    self.arguments = arguments
    self.peer = peer
    self.id = id
  }

  /// Refuses another number of arguments than expected.
  public func expect(_ counts: ClosedRange<Int>, _ usage: String) throws(EngineError) {
    if counts.contains(arguments.count) { return }
    throw EngineError(.wrongType, "\(address) takes \(usage), not \(arguments.count) argument(s)")
  }

  /// A text argument.
  public func text(_ index: Int, _ what: String) throws(EngineError) -> String {
    switch arguments[index] {
    case .string(let text), .symbol(let text): return text
    default: throw EngineError(.wrongType, "\(address): \(what) has to be a string")
    }
  }

  /// A whole number, in any numeric type that holds it exactly.
  public func integer(_ index: Int, _ what: String) throws(EngineError) -> Int {
    guard let number = number(arguments[index]) else {
      throw EngineError(.wrongType, "\(address): \(what) has to be a whole number")
    }
    // Why not by way of a Double: a 64-bit frame may have more digits than one holds.
    if case .int64(let value) = arguments[index] { return Int(value) }
    guard let integer = Int(exactly: number) else {
      throw EngineError(.wrongType, "\(address): \(what) has to be a whole number, not \(number)")
    }
    return integer
  }

  /// Any finite number.
  public func real(_ index: Int, _ what: String) throws(EngineError) -> Double {
    guard let number = number(arguments[index]) else {
      throw EngineError(.wrongType, "\(address): \(what) has to be a number")
    }
    guard number.isFinite else { throw EngineError(.outOfRange, "\(address): \(what) is not finite") }
    return number
  }

  /// A switch: 0 or 1 in any numeric type, or T or F.
  public func toggle(_ index: Int, _ what: String) throws(EngineError) -> Bool {
    switch arguments[index] {
    case .true: return true
    case .false: return false
    default:
      guard let number = number(arguments[index]) else {
        throw EngineError(.wrongType, "\(address): \(what) has to be 0 or 1")
      }
      if number == 0 { return false }
      if number == 1 { return true }
      throw EngineError(.outOfRange, "\(address): \(what) has to be 0 or 1, not \(number)")
    }
  }

  private func number(_ argument: OSCArgument) -> Double? {
    switch argument {
    case .int32(let value): Double(value)
    case .int64(let value): Double(value)
    case .float(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}

extension OSCArgument {
  /// The argument as a parameter's value; `nil` for types that no value has.
  var parameterInput: ParameterInput? {
    switch self {
    case .int32(let value): .int(Int64(value))
    case .int64(let value): .int(value)
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .true: .bool(true)
    case .false: .bool(false)
    case .string(let text), .symbol(let text): .text(text)
    default: nil
    }
  }
}

extension OSCArgumentView {
  /// The argument as a parameter's value, without allocating for numbers; `nil` for types that no value has.
  var parameterInput: ParameterInput? {
    switch self {
    case .int32(let value): .int(Int64(value))
    case .int64(let value): .int(value)
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .true: .bool(true)
    case .false: .bool(false)
    case .string(let bytes), .symbol(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    default: nil
    }
  }
}
