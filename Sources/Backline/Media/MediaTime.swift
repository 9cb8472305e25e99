/// A time as a fraction of whole numbers: `value / timescale` seconds. Sums, differences and comparisons are exact.
///
/// Where an exact result would not fit, it is the nearest that does, in the finer of the two scales.
public struct MediaTime: Sendable, Comparable, Hashable, CustomStringConvertible {
  /// The number of units.
  public let value: Int64
  /// Units a second, at least 1.
  public let timescale: Int32

  /// A time; a timescale below 1 counts as 1.
  public init(value: Int64, timescale: Int32) {
    self.value = value
    self.timescale = max(1, timescale)
  }

  /// The nearest time in units of `preferredTimescale`, halves up; 0 where `seconds` is not finite.
  public init(seconds: Double, preferredTimescale: Int32) {
    let scale = max(1, preferredTimescale)
    let units = (seconds * Double(scale) + 0.5).rounded(.down)
    self.init(value: Int64(exactly: units) ?? (units > 0 ? .max : units < 0 ? .min : 0), timescale: scale)
  }

  /// No time.
  public static let zero = MediaTime(value: 0, timescale: 1)

  /// The time in seconds, as near as a `Double` comes.
  public var seconds: Double { Double(value) / Double(timescale) }

  /// `value/timescale s`.
  public var description: String { "\(value)/\(timescale) s" }

  /// The same time in units of another timescale: to the nearest, halves up, the largest number where it does not fit.
  public func converted(to timescale: Int32) -> MediaTime {
    let scale = max(1, timescale)
    return MediaTime(value: Self.scaled(value, Int64(scale), Int64(self.timescale)), timescale: scale)
  }

  /// `value * numerator / denominator`, halves up.
  private static func scaled(_ value: Int64, _ numerator: Int64, _ denominator: Int64) -> Int64 {
    // Twice the value, and one denominator more, make truncation round; 128 bits hold all of it.
    let product = Int128(value) * Int128(numerator) * 2 + Int128(denominator)
    let (quotient, rest) = product.quotientAndRemainder(dividingBy: 2 * Int128(denominator))
    return Int64(clamping: rest < 0 ? quotient - 1 : quotient)
  }

  /// The smallest timescale that holds both exactly; the finer of them where there is none.
  private static func common(_ one: MediaTime, _ other: MediaTime) -> Int32 {
    var (a, b) = (one.timescale, other.timescale)
    while b != 0 { (a, b) = (b, a % b) }
    let multiple = Int64(one.timescale) / Int64(a) * Int64(other.timescale)
    return Int32(exactly: multiple) ?? max(one.timescale, other.timescale)
  }

  /// The sum, exact where it fits.
  public static func + (one: MediaTime, other: MediaTime) -> MediaTime {
    let scale = common(one, other)
    let (a, b) = (one.converted(to: scale).value, other.converted(to: scale).value)
    let (sum, overflow) = a.addingReportingOverflow(b)
    return MediaTime(value: overflow ? (a < 0 ? .min : .max) : sum, timescale: scale)
  }

  /// The difference, exact where it fits.
  public static func - (one: MediaTime, other: MediaTime) -> MediaTime {
    let scale = common(one, other)
    let (a, b) = (one.converted(to: scale).value, other.converted(to: scale).value)
    let (difference, overflow) = a.subtractingReportingOverflow(b)
    return MediaTime(value: overflow ? (a < 0 ? .min : .max) : difference, timescale: scale)
  }

  /// True where the first time comes before the other, exactly.
  public static func < (one: MediaTime, other: MediaTime) -> Bool {
    Int128(one.value) * Int128(other.timescale) < Int128(other.value) * Int128(one.timescale)
  }

  /// True for the same time in whatever scales.
  public static func == (one: MediaTime, other: MediaTime) -> Bool {
    Int128(one.value) * Int128(other.timescale) == Int128(other.value) * Int128(one.timescale)
  }

  public func hash(into hasher: inout Hasher) {
    // Equal times in other scales have to hash alike: in lowest terms they are the same.
    var (a, b) = (value.magnitude, UInt64(timescale))
    while b != 0 { (a, b) = (b, a % b) }
    let divisor = Int64(clamping: max(1, a))
    hasher.combine(value / divisor)
    hasher.combine(Int64(timescale) / divisor)
  }
}
