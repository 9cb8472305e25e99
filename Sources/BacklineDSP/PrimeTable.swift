/// The next prime from each whole number up, so that render code can choose delay lengths without common factors.
struct PrimeTable {
  private let next: UnsafeMutablePointer<Int32>
  private let count: Int

  /// A table for numbers up to `limit`, made with Eratosthenes' sieve.
  init(upTo limit: Int) {
    // Between n and 2n there is a prime (Chebyshev), and far below 2n for n of this size.
    count = max(limit, 64) + 512
    next = .allocate(capacity: count)
    next.initialize(repeating: 0, count: count)
    var factor = 2
    while factor * factor < count {
      var multiple = factor * factor
      while multiple < count {
        next[multiple] = 1
        multiple += factor
      }
      factor += 1
    }
    var prime: Int32 = 0
    for number in stride(from: count - 1, through: 0, by: -1) {
      if next[number] == 0 && number >= 2 { prime = Int32(number) }
      next[number] = prime
    }
  }

  /// Frees the memory.
  func deallocate() { next.deallocate() }

  /// The smallest prime that is not below `number`, held to the table.
  @_noLocks
  func prime(from number: Int32) -> Int32 {
    let prime = next[max(0, min(Int(number), count &- 1))]
    return prime == 0 ? number : prime
  }
}
