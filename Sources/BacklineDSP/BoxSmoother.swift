/// Averages the last values, exactly: sums are whole numbers, so nothing accumulates, and what has come to rest is at rest.
///
/// Two averages one after the other weigh the values by a triangle, whose corners are round enough for a gain. Memory is
/// allocated at creation and freed by `deallocate()`.
struct BoxSmoother {
  /// The steps in a unit.
  private static var scale: Float { @inline(__always) @_noLocks get { 0x1p24 } }

  private let firstValues: UnsafeMutablePointer<Int64>
  private let secondValues: UnsafeMutablePointer<Int64>
  private let firstLength: Int
  private let secondLength: Int
  private let factor: Float
  private var firstSum: Int64 = 0
  private var secondSum: Int64 = 0
  private var firstPosition = 0
  private var secondPosition = 0

  /// The average reaches `length` frames back from the newest value.
  init(length: Int) {
    firstLength = max(1, length / 2 + 1)
    secondLength = max(1, length - firstLength + 2)
    firstValues = .allocate(capacity: firstLength)
    firstValues.initialize(repeating: 0, count: firstLength)
    secondValues = .allocate(capacity: secondLength)
    secondValues.initialize(repeating: 0, count: secondLength)
    factor = Float(1 / (Double(Self.scale) * Double(firstLength) * Double(secondLength)))
  }

  func deallocate() {
    firstValues.deallocate()
    secondValues.deallocate()
  }

  /// Takes a value from 0 to 1000, rounded up to 2^-24; returns the weighted average.
  @inline(__always) @_noLocks
  mutating func next(_ value: Float) -> Float {
    let scaled = value * Self.scale
    let whole = Int64(scaled)
    let rounded = Float(whole) < scaled ? whole &+ 1 : whole
    firstSum &+= rounded &- firstValues[firstPosition]
    firstValues[firstPosition] = rounded
    firstPosition = firstPosition &+ 1 == firstLength ? 0 : firstPosition &+ 1
    secondSum &+= firstSum &- secondValues[secondPosition]
    secondValues[secondPosition] = firstSum
    secondPosition = secondPosition &+ 1 == secondLength ? 0 : secondPosition &+ 1
    return Float(secondSum) * factor
  }

  /// Forgets all values.
  @_noLocks
  mutating func reset() {
    for i in 0..<firstLength { firstValues[i] = 0 }
    for i in 0..<secondLength { secondValues[i] = 0 }
    firstSum = 0
    secondSum = 0
    firstPosition = 0
    secondPosition = 0
  }
}
