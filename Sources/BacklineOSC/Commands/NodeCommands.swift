import BacklineDSP
import BacklineEngine

/// `/node/NAME/…`: parameters in all their forms, bypass and reset.
extension CommandRouter {
  func nodeAction(_ request: OSCRequest, _ scope: NameScope) throws(EngineError) -> CommandAction {
    let parts = request.address.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4 || parts.count == 5 else {
      throw EngineError(.unknownAddress, "'\(request.address)' is no /node/NAME/PARAMETER")
    }
    let name = parts[2], last = parts[3], form = parts.count == 5 ? parts[4] : nil
    if request.address.utf8.contains(where: { "*?[]{}".utf8.contains($0) }) {
      return try patternAction(request, scope, name: name, parameter: last, form: form)
    }
    let unit = try scope.unit(name)
    if form == nil && last == "bypass" { return try bypass(request, name) }
    if form == nil && last == "reset" {
      try request.expect(0...0, "nothing")
      return .change([.reset(name)], reply: [], feedback: [])
    }
    if form == nil && last == "load" { return try load(request, name) }
    guard let index = unit.parameterIndex(named: last), let parameter = unit.parameter(at: index) else {
      let near = unit.nearestParameterName(last).map { ": did you mean '\($0)'?" } ?? ""
      throw EngineError(.unknownParameter, "'\(name)' (\(unit.kind)) has no parameter '\(last)'" + near)
    }
    return try parameterAction(request, name, index, parameter, form)
  }

  private func bypass(_ request: OSCRequest, _ name: String) throws(EngineError) -> CommandAction {
    if request.arguments.isEmpty {
      return .answer { [engine] () throws(EngineError) in
        [.int32(try engine.hereThrowing { engine throws(EngineError) in try engine.node(name).isBypassed } ? 1 : 0)]
      }
    }
    try request.expect(1...1, "0 or 1")
    let isBypassed = try request.toggle(0, "bypass")
    let feedback = CommandAction.Feedback(
      address: request.address, value: .int32(isBypassed ? 1 : 0), changedOnTheWay: false)
    return .change([.bypass(name, isBypassed)], reply: nil, feedback: [feedback])
  }

  /// What a node takes of the time there is, in percent: on average and at most.
  private func load(_ request: OSCRequest, _ name: String) throws(EngineError) -> CommandAction {
    try request.expect(0...0, "nothing: it is measured")
    return .answer { [engine] () throws(EngineError) in
      let load = try engine.hereThrowing { engine throws(EngineError) in try engine.load(of: name) }
      return [.float(100 * load.mean), .float(100 * load.largest)]
    }
  }

  private func parameterAction(
    _ request: OSCRequest, _ name: String, _ index: Int, _ parameter: ParameterDescription, _ form: String?
  ) throws(EngineError) -> CommandAction {
    switch form {
    case nil:
      if request.arguments.isEmpty { return ask(name, parameter) { valueArgument($0, $1) } }
      try request.expect(1...1, "one value")
      return try set(request, name, index, parameter, ramp: nil)
    case "ramp":
      try request.expect(2...2, "a value and seconds")
      let seconds = try request.real(1, "the time")
      if !(0...3600).contains(seconds) {
        throw EngineError(.outOfRange, "\(request.address): the time has to be 0 to 3600 seconds, not \(seconds)")
      }
      return try set(request, name, index, parameter, ramp: seconds)
    case "normalized":
      if request.arguments.isEmpty { return ask(name, parameter) { .float($1.normalized($0)) } }
      try request.expect(1...1, "a number from 0 to 1")
      let travel = try request.real(0, "the fader's travel")
      if !(0...1).contains(travel) {
        throw EngineError(.outOfRange, "\(request.address): the fader's travel is 0 to 1, not \(travel)")
      }
      return try set(.float(parameter.denormalized(Float(travel))), request, name, index, parameter, ramp: nil)
    case "text":
      try request.expect(0...0, "nothing: it asks for the value as a text")
      return ask(name, parameter) { .string($1.text(for: $0)) }
    default:
      throw EngineError(
        .unknownAddress, "'\(request.address)': after a parameter come 'ramp', 'normalized' or 'text' only")
    }
  }

  private func ask(
    _ name: String, _ parameter: ParameterDescription, _ form: @escaping (Float, ParameterDescription) -> OSCArgument
  ) -> CommandAction {
    .answer { [engine] () throws(EngineError) in
      let (value, parameter) = try engine.hereThrowing { engine throws(EngineError) in
        // By name, for what came after it in the bundle may have made another unit of the node.
        let unit = try engine.node(name).description
        guard let index = unit.parameterIndex(named: parameter.name), let parameter = unit.parameter(at: index) else {
          throw EngineError(.unknownParameter, "'\(name)' (\(unit.kind)) has no parameter '\(parameter.name)'")
        }
        return (try engine.value(name, index), parameter)
      }
      return [form(value, parameter)]
    }
  }

  private func set(
    _ request: OSCRequest, _ name: String, _ index: Int, _ parameter: ParameterDescription, ramp: Double?
  ) throws(EngineError) -> CommandAction {
    guard let input = request.arguments[0].parameterInput else {
      throw EngineError(.wrongType, "\(request.address) \(parameter.expectation)")
    }
    return try set(input, request, name, index, parameter, ramp: ramp)
  }

  private func set(
    _ input: ParameterInput, _ request: OSCRequest, _ name: String, _ index: Int, _ parameter: ParameterDescription,
    ramp: Double?
  ) throws(EngineError) -> CommandAction {
    let value: Float
    do throws(EngineError) {
      value = try parameter.resolve(input)
    } catch {
      throw EngineError(error.code, "\(request.address): \(error.message)")
    }
    let feedback = CommandAction.Feedback(
      address: "/node/\(name)/\(parameter.name)", value: valueArgument(value, parameter),
      changedOnTheWay: !isSame(input, value))
    return .change(
      [.set(node: name, parameter: index, value: value, ramp: ramp)], reply: nil, feedback: [feedback])
  }

  // MARK: Patterns

  /// A pattern over nodes and parameters: sets all that match as one, or answers for each.
  private func patternAction(
    _ request: OSCRequest, _ scope: NameScope, name: String, parameter: String, form: String?
  ) throws(EngineError) -> CommandAction {
    let matches = try self.matches(scope, name: name, parameter: parameter)
    if matches.isEmpty { throw EngineError(.unknownAddress, "nothing matches '\(request.address)'") }
    let address = form.map { "/\($0)" } ?? ""
    if request.arguments.isEmpty {
      return .special { [self] () throws(EngineError) in
        for match in matches {
          let one = OSCRequest(
            address: match.address + address, arguments: [], peer: request.peer, id: request.id)
          guard
            case .answer(let values) = try parameterAction(one, match.node, match.index, match.parameter, form)
          else { continue }
          answer(one, try values())
        }
        answer(request, [.int32(Int32(matches.count))])
      }
    }
    var commands: [Command] = []
    var feedback: [CommandAction.Feedback] = []
    for match in matches where !match.parameter.isReadOnly {
      let one = OSCRequest(
        address: match.address + address, arguments: request.arguments, peer: request.peer, id: nil)
      if case .change(let more, _, let told) = try parameterAction(
        one, match.node, match.index, match.parameter, form)
      {
        commands += more
        feedback += told
      }
    }
    if commands.isEmpty { throw EngineError(.notAllowed, "all that matches '\(request.address)' is measured, not set") }
    return .change(commands, reply: [.int32(Int32(commands.count))], feedback: feedback)
  }

  struct Match {
    let address: String
    let node: String
    let index: Int
    let parameter: ParameterDescription
  }

  /// The parameters whose addresses match, part by part, so that no pattern reaches across a `/`.
  private func matches(
    _ scope: NameScope, name: String, parameter: String
  ) throws(EngineError) -> [Match] {
    let names: OSCPattern, parameters: OSCPattern
    do {
      names = try OSCPattern("/" + name)
      parameters = try OSCPattern("/" + parameter)
    } catch {
      throw EngineError(.unknownAddress, "'\(name)/\(parameter)' is no pattern: \(error)")
    }
    return scope.nodes.filter { names.matches("/" + $0.name) }.flatMap { node in
      (0..<node.parameterCount).compactMap { index in
        guard let description = node.unit.parameter(at: index), parameters.matches("/" + description.name) else {
          return nil
        }
        return Match(
          address: "/node/\(node.name)/\(description.name)", node: node.name, index: index, parameter: description)
      }
    }
  }
}
