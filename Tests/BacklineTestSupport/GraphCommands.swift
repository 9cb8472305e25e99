import BacklineDSP
import BacklineEngine

/// Short ways to write commands, with parameters by their names.
extension EngineHarness {
  /// Adds a node with the values of some parameters.
  public func add(_ kind: String, _ name: String, _ values: KeyValuePairs<String, Float> = [:]) -> Command {
    .add(kind: kind, name: name, values: values.map { (index(kind, $0.key), $0.value) })
  }

  /// Sets a parameter of a node of `kind`.
  public func set(
    _ node: String, _ kind: String, _ parameter: String, _ value: Float, ramp: Double? = nil
  ) -> Command {
    .set(node: node, parameter: index(kind, parameter), value: value, ramp: ramp)
  }

  private func index(_ kind: String, _ parameter: String) -> Int {
    guard let index = engine.catalog[kind]?.parameterIndex(named: parameter) else {
      preconditionFailure("'\(kind)' has no '\(parameter)'")
    }
    return index
  }

  /// Connects each to the next.
  public func chain(_ names: String...) -> [Command] {
    zip(names, names.dropFirst()).map { connect($0.0, $0.1) }
  }

  /// Connects NAME or NAME:BUS to another.
  public func connect(_ from: String, _ to: String, isFeedback: Bool = false, map: [Int]? = nil) -> Command {
    .connect(endpoint(from), endpoint(to), isFeedback: isFeedback, map: map)
  }

  public func disconnect(_ from: String, _ to: String) -> Command { .disconnect(endpoint(from), endpoint(to)) }

  private func endpoint(_ text: String) -> Endpoint {
    let parts = text.split(separator: ":")
    return Endpoint(String(parts[0]), bus: parts.count > 1 ? Int(parts[1]) : nil)
  }

  /// Renders the same signal on both inputs.
  public func render(both signal: [Float], cuts: [Int] = [64]) -> [[Float]] { render([signal, signal], cuts: cuts) }

  /// Renders silence and tidies in turn until nothing of past edits is left in the plan.
  public func settleAll(frames: Int = 1024) async {
    for _ in 0..<4 {
      _ = render(frames: frames)
      await settle()
    }
  }
}
