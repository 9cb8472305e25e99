/// Which slot has which name. Parted by hash, so that a changed copy shares most of it: see `PagedList`.
struct NameTable {
  private static let partCount = 64

  private var parts = ContiguousArray<[String: Int32]>(repeating: [:], count: partCount)

  subscript(name: String) -> Int32? {
    get { parts[Self.part(of: name)][name] }
    set { parts[Self.part(of: name)][name] = newValue }
  }

  private static func part(of name: String) -> Int { name.hashValue & (partCount - 1) }
}
