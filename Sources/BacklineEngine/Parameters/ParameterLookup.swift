import BacklineDSP

/// The parameters of a unit by name and index, those of growing inputs (`input3Volume`) included.
///
/// The unit's own parameters come first, then those of input 0, of input 1 and so on: parameter `k` of input `n` has the index
/// `parameters.count + n * inputParameters.count + k`.
extension UnitDescription {
  /// The index of the parameter called `name`.
  public func parameterIndex(named name: String) -> Int? {
    if let index = parameters.firstIndex(where: { $0.name == name }) { return index }
    guard let growingInputs, !inputParameters.isEmpty, name.hasPrefix("input") else { return nil }
    let digits = name.utf8.dropFirst("input".utf8.count).prefix { (0x30...0x39).contains($0) }
    guard let input = Int(String(decoding: digits, as: UTF8.self)), input < growingInputs,
      digits.count == 1 || digits.first != 0x30
    else { return nil }
    let part = name.utf8.dropFirst("input".utf8.count + digits.count)
    guard let index = inputParameters.firstIndex(where: { $0.name.utf8.elementsEqual(part) }) else { return nil }
    return parameters.count + input * inputParameters.count + index
  }

  /// The parameter at `index`, under its full name; `nil` outside.
  public func parameter(at index: Int) -> ParameterDescription? {
    if parameters.indices.contains(index) { return parameters[index] }
    guard let growingInputs, !inputParameters.isEmpty, index >= parameters.count else { return nil }
    let (input, part) = (index - parameters.count).quotientAndRemainder(dividingBy: inputParameters.count)
    guard input < growingInputs else { return nil }
    return inputParameters[part].renamed("input\(input)\(inputParameters[part].name)")
  }

  /// The parameter called `name`.
  public func parameter(named name: String) -> ParameterDescription? {
    parameterIndex(named: name).flatMap(parameter(at:))
  }

  /// The name closest to one that this unit does not have.
  public func nearestParameterName(_ name: String) -> String? {
    let numbered = (0..<(growingInputs ?? 0)).lazy.flatMap { input in
      inputParameters.lazy.map { "input\(input)\($0.name)" }
    }
    return nearestName(name, in: parameters.map(\.name)) ?? nearestName(name, in: numbered)
  }
}
