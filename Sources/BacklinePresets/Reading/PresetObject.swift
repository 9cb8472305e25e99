import BacklineEngine

/// A JSON object of the format, read key by key; what is wrong goes to the collector.
struct PresetObject {
  let members: [JSONMember]
  let place: JSONPlace
  let path: String
  let problems: ProblemCollector

  /// The object at `path`; `nil` and a problem where the value is something else. With `keys`, others are problems.
  init?(_ value: JSONValue, path: String, keys: [String]?, problems: ProblemCollector) {
    guard let members = value.object else {
      problems.add(value.place, path, "an object in braces was expected, not \(value.typeName)")
      return nil
    }
    self.members = members
    self.path = path
    self.problems = problems
    place = value.place
    guard let keys else { return }
    for member in members where !keys.contains(member.name) {
      problems.add(
        member.place, JSONKeyPath.member(member.name, of: path),
        "this key is not known here\(suggestion(for: member.name, in: keys)); known are \(keys.joined(separator: ", "))"
      )
    }
  }

  func path(_ key: String) -> String { JSONKeyPath.member(key, of: path) }

  /// The value of a key, where it is there.
  func optional(_ key: String) -> JSONValue? { members.first { $0.name == key }?.value }

  /// The value of a key that has to be there.
  func required(_ key: String, _ hint: @autoclosure () -> String) -> JSONValue? {
    if let value = optional(key) { return value }
    problems.add(place, path(key), "this key is missing; \(hint())")
    return nil
  }

  /// The text of a value.
  func string(_ value: JSONValue, _ key: String) -> String? {
    if let string = value.string { return string }
    problems.add(value.place, path(key), "a string in double quotes was expected, not \(value.typeName)")
    return nil
  }

  /// A switch, false where it is not there.
  func bool(_ key: String) -> Bool {
    guard let value = optional(key) else { return false }
    if let bool = value.bool { return bool }
    problems.add(value.place, path(key), "true or false was expected, not \(value.typeName)")
    return false
  }

  /// The elements of a list.
  func list(_ value: JSONValue, _ key: String) -> [JSONValue]? {
    if let array = value.array { return array }
    problems.add(value.place, path(key), "a list in square brackets was expected, not \(value.typeName)")
    return nil
  }
}
