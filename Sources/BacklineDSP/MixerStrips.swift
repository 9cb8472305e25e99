import Synchronization

/// The strips of a mixer, in pages that a control thread adds while the render thread uses those that are there.
struct MixerStrips: ~Copyable {
  static var perPage: Int { @_noLocks get { 64 } }
  static var most: Int { @_noLocks get { 4096 } }

  private typealias Page = UnsafeMutablePointer<MixerStrip>
  private let pages: UnsafeMutablePointer<UnsafeMutablePointer<MixerStrip>?>
  /// The pages that are there; a page is filled before it is counted.
  private let pageCount = Atomic<Int>(0)

  init() {
    pages = .allocate(capacity: Self.most / Self.perPage)
    pages.initialize(repeating: nil, count: Self.most / Self.perPage)
  }

  deinit {
    for index in 0..<pageCount.load(ordering: .acquiring) { pages[index]?.deallocate() }
    pages.deallocate()
  }

  /// Makes room for `count` strips. Control thread.
  func reserve(_ count: Int) {
    let needed = (min(count, Self.most) + Self.perPage - 1) / Self.perPage
    for index in pageCount.load(ordering: .relaxed)..<max(needed, pageCount.load(ordering: .relaxed)) {
      let page = Page.allocate(capacity: Self.perPage)
      page.initialize(repeating: MixerStrip(), count: Self.perPage)
      pages[index] = page
      pageCount.store(index + 1, ordering: .releasing)
    }
  }

  /// The strip of an input bus; `nil` where there is no room for it. Render thread.
  @inline(__always) @_noLocks
  func strip(_ bus: Int) -> UnsafeMutablePointer<MixerStrip>? {
    if bus < 0 || bus &>> 6 >= pageCount.load(ordering: .acquiring) { return nil }
    return pages[bus &>> 6].unsafelyUnwrapped + (bus & 63)
  }

  /// Moves the strips on by `count` frames that had no input in the block at `frame`. Render thread.
  @_noLocks
  func advanceUnheard(at frame: Int64, by count: Int) {
    for index in 0..<pageCount.load(ordering: .acquiring) {
      let page = pages[index].unsafelyUnwrapped
      for slot in 0..<Self.perPage where !page[slot].isSettled && page[slot].lastHeard != frame {
        for _ in 0..<count { page[slot].advance() }
      }
    }
  }

  /// Ends every ramp. Render thread.
  @_noLocks
  func settle() {
    for index in 0..<pageCount.load(ordering: .acquiring) {
      let page = pages[index].unsafelyUnwrapped
      for slot in 0..<Self.perPage { page[slot].settle() }
    }
  }
}
