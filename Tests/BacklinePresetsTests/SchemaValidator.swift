import BacklinePresets

/// The part of JSON Schema 2020-12 that the schema of presets uses. A keyword that it does not know is itself a failure, so that
/// the schema cannot outgrow the check.
struct SchemaValidator {
  let root: JSONValue

  private static let annotations: Set<String> = ["$schema", "title", "description", "$defs", "pattern"]

  /// What is wrong with `value`, as `path: keyword`.
  func failures(_ value: JSONValue) -> [String] { failures(value, root, "$") }

  private func failures(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
    (schema.object ?? []).flatMap { member in
      Self.annotations.contains(member.name) ? [] : check(member.name, member.value, value, schema, path)
    }
  }

  private func check(
    _ keyword: String, _ rule: JSONValue, _ value: JSONValue, _ schema: JSONValue, _ path: String
  ) -> [String] {
    let failed = ["\(path): \(keyword)"]
    switch keyword {
    case "$ref":
      let name = rule.string?.split(separator: "/").last.map(String.init) ?? ""
      guard let target = root["$defs"]?[name] else { return failed }
      return failures(value, target, path)
    case "type":
      let types = rule.array?.compactMap(\.string) ?? [rule.string ?? ""]
      return types.contains { isType(value, $0) } ? [] : failed
    case "const": return value.string == rule.string ? [] : failed
    case "required":
      let names = rule.array?.compactMap(\.string) ?? []
      return value.object == nil || names.allSatisfy { value[$0] != nil } ? [] : failed
    case "properties":
      return (rule.object ?? []).flatMap { member in
        value[member.name].map { failures($0, member.value, "\(path).\(member.name)") } ?? []
      }
    case "additionalProperties":
      let others = (value.object ?? []).filter { schema["properties"]?[$0.name] == nil }
      if rule.bool == false { return others.isEmpty ? [] : failed }
      return others.flatMap { failures($0.value, rule, "\(path).\($0.name)") }
    case "items":
      return (value.array ?? []).enumerated().flatMap { failures($1, rule, "\(path)[\($0)]") }
    case "anyOf":
      return (rule.array ?? []).contains { failures(value, $0, path).isEmpty } ? [] : failed
    case "minItems": return value.array.map { $0.count >= rule.integer ?? 0 } ?? true ? [] : failed
    case "maxItems": return value.array.map { $0.count <= rule.integer ?? 0 } ?? true ? [] : failed
    case "minLength": return value.string.map { $0.unicodeScalars.count >= rule.integer ?? 0 } ?? true ? [] : failed
    case "maxLength": return value.string.map { $0.unicodeScalars.count <= rule.integer ?? 0 } ?? true ? [] : failed
    case "minimum": return value.number.map { $0 >= rule.number ?? 0 } ?? true ? [] : failed
    case "maximum": return value.number.map { $0 <= rule.number ?? 0 } ?? true ? [] : failed
    default: return ["\(path): the keyword \(keyword) is not known to this check"]
    }
  }

  private func isType(_ value: JSONValue, _ name: String) -> Bool {
    switch name {
    case "object": value.object != nil
    case "array": value.array != nil
    case "string": value.string != nil
    case "boolean": value.bool != nil
    case "number": value.number != nil
    case "integer": value.integer != nil
    default: false
    }
  }
}
