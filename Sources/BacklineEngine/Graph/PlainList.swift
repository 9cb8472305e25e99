/// A growing list of plain values, for the plan compiler: indexed without the checks for sharing and bounds that an array makes
/// at each access, which are most of what a compilation would cost. Bounds are checked in debug builds.
struct PlainList<Element: BitwiseCopyable>: ~Copyable {
  private var memory: UnsafeMutablePointer<Element>
  private var capacity: Int
  private(set) var count: Int

  init(capacity: Int) {
    self.capacity = max(16, capacity)
    memory = .allocate(capacity: self.capacity)
    count = 0
  }

  init(repeating value: Element, count: Int) {
    self.init(capacity: count)
    memory.initialize(repeating: value, count: count)
    self.count = count
  }

  deinit { memory.deallocate() }

  /// The elements, while the list lives and does not grow.
  var elements: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: memory, count: count) }

  subscript(index: Int) -> Element {
    get {
      assert(index >= 0 && index < count)
      return memory[index]
    }
    set {
      assert(index >= 0 && index < count)
      memory[index] = newValue
    }
  }

  subscript(index: Int32) -> Element {
    get { self[Int(index)] }
    set { self[Int(index)] = newValue }
  }

  var last: Element? { count > 0 ? memory[count - 1] : nil }

  mutating func append(_ element: Element) {
    if count == capacity { grow() }
    (memory + count).initialize(to: element)
    count += 1
  }

  mutating func popLast() -> Element? {
    if count == 0 { return nil }
    count -= 1
    return memory[count]
  }

  mutating func removeAll() { count = 0 }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: 2 * capacity)
    larger.moveInitialize(from: memory, count: count)
    memory.deallocate()
    memory = larger
    capacity *= 2
  }
}
