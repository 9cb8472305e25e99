/// What was given to one command, checked against its declaration.
struct ParsedArguments: Equatable, Sendable {
  /// The values of options by name; an empty list for a switch.
  private(set) var options: [String: [String]] = [:]
  /// The values of arguments by placeholder.
  private(set) var arguments: [String: [String]] = [:]

  /// True where the option was given.
  func contains(_ option: OptionDeclaration) -> Bool { options[option.name] != nil }

  /// The value of an option, the last one of a repeatable one.
  subscript(_ option: OptionDeclaration) -> String? { options[option.name]?.last }

  /// All values of a repeatable option, in order.
  func all(_ option: OptionDeclaration) -> [String] { options[option.name] ?? [] }

  /// The value of an option of whole numbers; `nil` where it was not given or is the rule's word.
  func integer(_ option: OptionDeclaration) -> Int? { self[option].flatMap { Int($0) } }

  /// The value of an argument.
  subscript(_ argument: ArgumentDeclaration) -> String? { arguments[argument.name]?.first }

  /// All values of a repeatable argument, in order.
  func all(_ argument: ArgumentDeclaration) -> [String] { arguments[argument.name] ?? [] }

  mutating func set(_ option: OptionDeclaration, _ value: String?) {
    options[option.name, default: []] += value.map { [$0] } ?? []
  }

  mutating func add(_ argument: ArgumentDeclaration, _ value: String) {
    arguments[argument.name, default: []].append(value)
  }
}
