import Testing

@testable import BacklineEngine

@Suite("Lists in pages")
struct PagedListTests {
  @Test("a copy keeps what it had while the list changes, at every place", arguments: [1, 31, 32, 33, 64, 200])
  func copies(count: Int) {
    var list = PagedList<Int>()
    for value in 0..<count { list.append(value) }
    for place in 0..<count {
      let copy = list
      list[place] += 1_000
      list.append(-1)
      #expect(copy.count == count + place)
      #expect(copy[place] == place && list[place] == place + 1_000)
    }
    #expect(Array(list.prefix(count)) == (1_000..<1_000 + count).map { $0 })
    #expect(Array(list.contiguous()) == Array(list) && list.count == 2 * count)
  }

  @Test("a name is found under its slot until it is taken away, in a copy for longer")
  func names() {
    var table = NameTable()
    for slot in 0..<Int32(1_000) { table["node\(slot)"] = slot }
    let copy = table
    for slot in stride(from: Int32(0), to: 1_000, by: 2) { table["node\(slot)"] = nil }
    for slot in 0..<Int32(1_000) {
      #expect(table["node\(slot)"] == (slot % 2 == 0 ? nil : slot))
      #expect(copy["node\(slot)"] == slot)
    }
    #expect(table["other"] == nil)
  }
}
