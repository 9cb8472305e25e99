import BacklineDSP
import CBackline

/// Where a fader stands for a value, and back.
extension ParameterDescription {
  /// The fader's travel from 0 to 1 for a value; values outside the range stand at its ends.
  public func normalized(_ value: Float) -> Float {
    let low = Double(range.lowerBound)
    let high = Double(range.upperBound)
    guard value > range.lowerBound, high > low else { return 0 }  // also not a number
    guard value < range.upperBound else { return 1 }
    switch effectiveTaper {
    case .linear: return Float((Double(value) - low) / (high - low))
    case .logarithmic: return Float(backline_log(Double(value) / low) / backline_log(high / low))
    case .quadratic: return Float(backline_sqrt((Double(value) - low) / (high - low)))
    }
  }

  /// The value for a fader's travel from 0 to 1; whole for counts, choices and switches.
  public func denormalized(_ travel: Float) -> Float {
    let low = Double(range.lowerBound)
    let high = Double(range.upperBound)
    guard travel > 0 else { return range.lowerBound }  // also not a number
    guard travel < 1 else { return range.upperBound }
    let t = Double(travel)
    let value: Double
    switch effectiveTaper {
    case .linear: value = low + (high - low) * t
    case .logarithmic: value = low * backline_pow(high / low, t)
    case .quadratic: value = low + (high - low) * t * t
    }
    return min(max(Float(isStepped ? value.rounded() : value), range.lowerBound), range.upperBound)
  }

  /// Why: equal ratios have no meaning from zero or below.
  private var effectiveTaper: Taper { taper == .logarithmic && range.lowerBound <= 0 ? .linear : taper }
}
