/// Plain statistics of samples.
enum Statistics {
  /// The middle value; `nil` of none.
  static func median(_ values: [Double]) -> Double? { quantile(values, 0.5) }

  /// The value that `part` of the values, from 0 to 1, do not exceed; between two, the mean of both at the middle only.
  static func quantile(_ values: [Double], _ part: Double) -> Double? {
    if values.isEmpty { return nil }
    let sorted = values.sorted()
    if part == 0.5 && sorted.count % 2 == 0 { return (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }

  /// A number with a fixed count of digits after the point.
  static func text(_ value: Double, _ digits: Int) -> String {
    if !value.isFinite { return "-" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int64((value.magnitude * scale).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    if digits == 0 { return sign + String(scaled) }
    let fraction = String(scaled % Int64(scale))
    return sign + String(scaled / Int64(scale)) + "." + String(repeating: "0", count: digits - fraction.count)
      + fraction
  }
}
