import BacklineDSP

/// The tempo of the whole rack: what each unit with a parameter of this name follows.
extension Engine {
  /// Sets the tempo of every unit that has one, in one transaction, and of units made from now on; beats a minute.
  public func setTempo(_ beats: Double) throws(EngineError) {
    let value = Float(beats)
    guard TempoDivision.tempoRange.contains(value) else {
      throw EngineError(.outOfRange, "a tempo is 20 to 999 beats a minute, not \(beats)")
    }
    tempo = value
    let commands = store.nodes.compactMap { node -> Command? in
      guard let node, let index = node.description.parameterIndex(named: TempoDivision.tempo.name) else { return nil }
      return .set(node: node.name, parameter: index, value: value)
    }
    if commands.isEmpty { return }
    do throws(TransactionError) {
      try perform(commands)
    } catch {
      throw error.error
    }
    emit(.valuesChanged)
  }

  /// What a new unit's parameters are, in the rack's tempo where one has been set.
  func initialValues(_ description: UnitDescription) -> [Float] {
    description.parameters.map { parameter in
      parameter.name == TempoDivision.tempo.name ? tempo ?? parameter.defaultValue : parameter.defaultValue
    }
  }
}
