/// A list in pages, of which a copy shares all that neither side changes.
///
/// A transaction takes a copy of the whole graph before it begins, and touches a few elements of it: only their pages are
/// copied then, and the cost of an edit does not grow with the graph.
struct PagedList<Element>: RandomAccessCollection, MutableCollection {
  private static var shift: Int { 5 }
  private static var pageSize: Int { 1 << shift }

  private var pages: ContiguousArray<ContiguousArray<Element>> = []
  private(set) var count = 0

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Element {
    get { pages[index >> Self.shift][index & (Self.pageSize - 1)] }
    _modify { yield &pages[index >> Self.shift][index & (Self.pageSize - 1)] }
  }

  mutating func append(_ element: Element) {
    if count & (Self.pageSize - 1) == 0 {
      var page = ContiguousArray<Element>()
      page.reserveCapacity(Self.pageSize)
      pages.append(page)
    }
    pages[pages.count - 1].append(element)
    count += 1
  }

  /// The elements one after the other, for those who read them all.
  func contiguous() -> ContiguousArray<Element> {
    var all = ContiguousArray<Element>()
    all.reserveCapacity(count)
    for page in pages { all.append(contentsOf: page) }
    return all
  }
}
