import BacklineDSP

/// A parameter value as it came from outside: OSC, JSON, a command line.
public enum ParameterInput: Sendable, Equatable {
  case int(Int64)
  case float(Float)
  case double(Double)
  case bool(Bool)
  case text(String)
}

extension ParameterDescription {
  /// The value that `input` stands for, or why it does not.
  ///
  /// Continuous parameters take any finite number in range, as the nearest `Float`. Counts, indices of choices and switches have
  /// to be exact; choices also go by name, switches by true and false. What a unit measures cannot be set.
  public func resolve(_ input: ParameterInput) throws(EngineError) -> Float {
    if isReadOnly {
      throw EngineError(.notAllowed, "`\(name)` is measured by the unit and cannot be set; leave it out")
    }
    switch (kind, input) {
    case (_, .int(let value)):
      return try kind == .continuous ? continuous(Double(value)) : whole(Double(value))
    case (_, .float(let value)):
      return try kind == .continuous ? continuous(Double(value)) : whole(Double(value))
    case (_, .double(let value)):
      return try kind == .continuous ? continuous(value) : whole(value)
    case (.toggle, .bool(let value)):
      return value ? 1 : 0
    case (.discrete(let names), .text(let text)):
      guard let value = value(named: text) else {
        let nearest = suggestion(for: text, in: names)
        throw EngineError(.outOfRange, "`\(name)` \(expectation), not \(quoted(text))\(nearest)")
      }
      return value
    case (_, .bool(let value)):
      throw EngineError(.wrongType, "`\(name)` \(expectation), not \(value)")
    case (_, .text(let text)):
      throw EngineError(.wrongType, "`\(name)` \(expectation), not the text \(quoted(text))")
    }
  }

  /// The value of a choice by its name, exactly as written; `nil` where there is none.
  public func value(named name: String) -> Float? {
    guard case .discrete(let names) = kind else { return nil }
    return names.firstIndex(of: name).map { Float($0) }
  }

  /// What the parameter takes, as the middle of a sentence: "takes a number from -60 to 0 dB".
  public var expectation: String {
    switch kind {
    case .continuous: return "takes a number from \(rangeText)"
    case .count: return "takes a whole number from \(rangeText)"
    case .toggle: return "takes true or false (1 or 0)"
    case .discrete(let names): return "takes one of " + names.map { "`\($0)`" }.joined(separator: ", ")
    }
  }

  private var rangeText: String {
    let unit = measure == .none ? "" : measure == .ratio ? measure.rawValue : " " + measure.rawValue
    return "\(NumberText.shortest(range.lowerBound)) to \(NumberText.shortest(range.upperBound))\(unit)"
  }

  private func continuous(_ value: Double) throws(EngineError) -> Float {
    let nearest = Float(value)
    guard value.isFinite, range.contains(nearest) else { throw outside(value) }
    return nearest
  }

  private func whole(_ value: Double) throws(EngineError) -> Float {
    guard value.isFinite else { throw outside(value) }
    guard value == value.rounded() else {
      throw EngineError(.wrongType, "`\(name)` \(expectation), not \(NumberText.shortest(value))")
    }
    // Why as Doubles: a large whole number may become another one, in range, when it is rounded to a Float.
    guard value >= Double(range.lowerBound), value <= Double(range.upperBound) else { throw outside(value) }
    return Float(value)
  }

  private func outside(_ value: Double) -> EngineError {
    EngineError(.outOfRange, "`\(name)` \(expectation), not \(NumberText.shortest(value))")
  }
}
