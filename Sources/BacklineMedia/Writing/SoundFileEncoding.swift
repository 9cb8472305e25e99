/// What a sound file is to be: its kind, its samples, its shape.
public struct SoundFileEncoding: Equatable, Sendable {
  public let container: SoundContainer
  /// `nil` for lossy kinds.
  public let sampleFormat: SampleFormat?
  /// Frames a second.
  public let sampleRate: Int
  public let channelCount: Int

  /// An encoding that can be written, or why it cannot.
  ///
  /// Without a sample format `preferred` is taken where the container has it (what the source has, say), else the best that it
  /// has up to 32-bit floats. `channelLimit` is another limit than the 32 of a bus, where samples lie in the file as they are.
  public init(
    _ container: SoundContainer, sampleFormat: SampleFormat? = nil, preferring preferred: SampleFormat? = nil,
    sampleRate: Int, channelCount: Int, channelLimit: Int? = nil
  ) throws(SoundFileWriteError) {
    if let sampleFormat { try Self.check(container, sampleFormat) }
    try Self.check(container, sampleRate: sampleRate)
    let limit = container.isPlain ? channelLimit ?? container.channelLimit : container.channelLimit
    guard (1...limit).contains(channelCount) else {
      throw .unsupported(
        "\(container.title) holds 1 to \(limit) channels here, not \(channelCount): choose another format")
    }
    self.container = container
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    let formats = container.sampleFormats
    if let sampleFormat {
      self.sampleFormat = sampleFormat
    } else if let preferred, formats.contains(preferred) {
      self.sampleFormat = preferred
    } else {
      self.sampleFormat = formats.contains(.float32) ? .float32 : formats.last
    }
  }

  /// Refuses a container and a sample format that do not go together.
  public static func check(
    _ container: SoundContainer, _ sampleFormat: SampleFormat
  ) throws(SoundFileWriteError) {
    if container.sampleFormats.contains(sampleFormat) { return }
    if container.isLossy {
      throw .unsupported("\(container.title) is lossy and has no sample formats: leave \(sampleFormat.rawValue) out")
    }
    let names = container.sampleFormats.map(\.rawValue).joined(separator: " or ")
    throw .unsupported("\(container.title) holds \(names) samples, not \(sampleFormat.rawValue)")
  }

  /// Refuses a sample rate that a container does not hold.
  public static func check(_ container: SoundContainer, sampleRate: Int) throws(SoundFileWriteError) {
    if let rates = container.sampleRates, !rates.contains(sampleRate) {
      let names = rates.map(String.init).joined(separator: ", ")
      throw .unsupported("\(container.title) holds \(names) Hz, not \(sampleRate): convert with another rate")
    }
    guard (1_000...container.rateLimit).contains(sampleRate) else {
      throw .unsupported("\(container.title) holds 1000 to \(container.rateLimit) Hz, not \(sampleRate)")
    }
  }

  /// True where the file gives back what was written to it.
  public var isLossless: Bool { sampleFormat != nil }

  /// Bytes a frame of a plain file; `nil` where they vary.
  public var bytesPerFrame: Int? {
    container.isPlain ? sampleFormat.map { $0.bits / 8 * channelCount } : nil
  }
}
