import CSoxr

/// Why a rate cannot be converted.
public struct RateConversionError: Error, Equatable, Sendable {
  public let message: String
}

/// Converts the sample rate of a stream with libsoxr (Rob Sykes): linear phase, no delay, an exact length.
///
/// The output does not depend on the pieces in which the input comes. Allocates; not for the render thread.
public struct RateConverter: ~Copyable {
  /// How exact the conversion is.
  public enum Quality: Sendable {
    /// 20 bits.
    case high
    /// 28 bits, worked out in double precision.
    case veryHigh

    fileprivate var recipe: UInt { self == .high ? UInt(SOXR_20_BITQ) : UInt(SOXR_28_BITQ) }
  }

  public let inputRate: Int
  public let outputRate: Int
  public let channelCount: Int
  private let converter: soxr_t
  private var inputFrames: Int64 = 0
  private var outputFrames: Int64 = 0

  /// A converter between whole rates.
  public init(
    inputRate: Int, outputRate: Int, channelCount: Int, quality: Quality = .veryHigh
  ) throws(RateConversionError) {
    // Made before anything is stored: a noncopyable value cannot be left half initialised.
    converter = try Self.make(inputRate, outputRate, channelCount, quality)
    self.inputRate = inputRate
    self.outputRate = outputRate
    self.channelCount = channelCount
  }

  private static func make(
    _ inputRate: Int, _ outputRate: Int, _ channelCount: Int, _ quality: Quality
  ) throws(RateConversionError) -> soxr_t {
    guard inputRate > 0, outputRate > 0, channelCount > 0 else {
      throw RateConversionError(
        message: "no conversion of \(channelCount) channels from \(inputRate) to \(outputRate) Hz")
    }
    var error: soxr_error_t?
    var format = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I)
    var recipe = soxr_quality_spec(quality.recipe, UInt(SOXR_HI_PREC_CLOCK))
    var runtime = soxr_runtime_spec(1)
    let made = soxr_create(
      Double(inputRate), Double(outputRate), UInt32(channelCount), &error, &format, &recipe, &runtime)
    guard let made else {
      throw RateConversionError(message: error.map { String(cString: $0) } ?? "libsoxr makes no converter")
    }
    return made
  }

  deinit { soxr_delete(converter) }

  /// The length after conversion: `frames` x out / in, to the nearest frame, halves up.
  public static func convertedLength(of frames: Int64, from inputRate: Int, to outputRate: Int) -> Int64 {
    let product = (2 * UInt64(outputRate)).multipliedFullWidth(by: UInt64(max(0, frames)))
    let (low, carry) = product.low.addingReportingOverflow(UInt64(inputRate))
    let high = product.high + (carry ? 1 : 0)
    let divisor = 2 * UInt64(inputRate)
    return high >= divisor ? .max : Int64(clamping: divisor.dividingFullWidth((high, low)).quotient)
  }

  /// Takes up to `count` interleaved frames and gives up to `capacity`; returns how many of each.
  public mutating func process(
    _ input: UnsafePointer<Float>, count: Int, into output: UnsafeMutablePointer<Float>, capacity: Int
  ) throws(RateConversionError) -> (consumed: Int, produced: Int) {
    var consumed = 0
    var produced = 0
    try check(soxr_process(converter, input, count, &consumed, output, capacity, &produced))
    inputFrames += Int64(consumed)
    outputFrames += Int64(produced)
    return (consumed, produced)
  }

  /// After the last input: gives up to `capacity` of the frames that are left, 0 when all have been given.
  ///
  /// libsoxr rounds the length down where it falls on a half; the last frame is silence then.
  public mutating func finish(
    into output: UnsafeMutablePointer<Float>, capacity: Int
  ) throws(RateConversionError) -> Int {
    let length = Self.convertedLength(of: inputFrames, from: inputRate, to: outputRate)
    let wanted = Int(min(Int64(capacity), length - outputFrames))
    if wanted <= 0 { return 0 }
    var produced = 0
    try check(soxr_process(converter, nil, 0, nil, output, wanted, &produced))
    if produced == 0 {
      output.update(repeating: 0, count: wanted * channelCount)
      produced = wanted
    }
    outputFrames += Int64(produced)
    return produced
  }

  /// Makes the converter as good as new, for another stream.
  public mutating func restart() throws(RateConversionError) {
    try check(soxr_clear(converter))
    inputFrames = 0
    outputFrames = 0
  }

  private func check(_ error: soxr_error_t?) throws(RateConversionError) {
    if let error { throw RateConversionError(message: String(cString: error)) }
  }
}
