import CBackline
import Glibc

/// Reads a WAV or RF64 stream that cannot be sought in, such as a pipe (Microsoft RIFF; EBU Tech 3306).
///
/// A length of nothing, of all ones, or what SoX writes into a pipe means that the writer did not know it: the stream goes as
/// far as it goes then. Used by one thread, but for `cancel`.
public final class WaveStreamReader {
  public let sampleRate: Int
  public let channelCount: Int
  /// The length, where the header knows it.
  public let frameCount: Int64?
  public let sampleFormat: SampleFormat
  private let name: String
  private let source: WaitableDescriptor
  private let bits: Int
  private let isFloat: Bool
  private var position: Int64 = 0
  private var bytes: [UInt8] = []

  /// What SoX writes where it does not know the length, and more.
  private static let unknownLength: Int64 = 0x7FFF_F000
  private static let pieceFrames = 4096

  /// Reads up to the first sample.
  public init(descriptor: Int32, name: String) throws(SoundFileError) {
    self.name = name
    source = WaitableDescriptor(descriptor)
    var header = WaveHeader(name: name)
    try header.read(from: source)
    sampleRate = header.sampleRate
    channelCount = header.channelCount
    bits = header.bits
    isFloat = header.isFloat
    sampleFormat =
      switch (header.isFloat, header.bits) {
      case (true, 32): .float32
      case (true, _): .float64
      case (false, ...16): .int16
      case (false, 24): .int24
      default: .int32
      }
    let frameSize = Int64(header.channelCount * header.bits / 8)
    let isKnown = header.isLong ? header.dataSize > 0 : header.dataSize > 0 && header.dataSize < Self.unknownLength
    frameCount = isKnown ? header.dataSize / frameSize : nil
  }

  /// Ends a read that waits, from any thread.
  public func cancel() { source.cancel() }

  /// Writes up to `count` interleaved frames and returns how many; 0 at the end.
  public func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(SoundFileError) -> Int {
    let left = frameCount.map { Int(min(Int64(count), $0 - position)) } ?? count
    let wanted = min(left, Self.pieceFrames)
    if wanted <= 0 { return 0 }
    let frameSize = channelCount * bits / 8
    if bytes.isEmpty { bytes = [UInt8](repeating: 0, count: Self.pieceFrames * frameSize) }
    let read = try Self.read(source, &bytes, wanted * frameSize, name: name)
    let frames = read / frameSize
    if read < wanted * frameSize, let frameCount, !source.isCancelled {
      throw .broken(
        path: name, frame: position + Int64(frames), reason: "it ends before the \(frameCount) frames of its header")
    }
    if read % frameSize != 0 && !source.isCancelled {
      throw .broken(path: name, frame: position + Int64(frames), reason: "it ends within a frame")
    }
    backline_unpack(bytes, Int64(frames * channelCount), Int32(bits), isFloat, samples)
    if isFloat && backline_has_non_finite(samples, Int64(frames * channelCount)) {
      for index in 0..<frames * channelCount where !samples[index].isFinite { samples[index] = 0 }
    }
    position += Int64(frames)
    return frames
  }

  /// Reads `count` bytes; fewer at the end, or when cancelled.
  static func read(
    _ source: WaitableDescriptor, _ bytes: inout [UInt8], _ count: Int, name: String
  ) throws(SoundFileError) -> Int {
    var done = 0
    while done < count {
      if !source.wait(forWriting: false) { return done }
      let read = bytes.withUnsafeMutableBytes { Glibc.read(source.number, $0.baseAddress! + done, count - done) }
      if read < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      if read < 0 { throw .notReadable(path: name, reason: String(cString: strerror(errno))) }
      if read == 0 { return done }
      done += read
    }
    return done
  }
}

/// The part of a WAV stream before its samples.
private struct WaveHeader {
  let name: String
  var sampleRate = 0
  var channelCount = 0
  var bits = 0
  var isFloat = false
  var dataSize: Int64 = 0
  /// True for RF64, whose lengths have 64 bits.
  var isLong = false

  /// The most bytes of chunks before the samples.
  private static let limit: Int64 = 16 << 20

  init(name: String) { self.name = name }

  mutating func read(from source: WaitableDescriptor) throws(SoundFileError) {
    let head = try take(12, from: source)
    isLong = head[0..<4].elementsEqual("RF64".utf8)
    guard isLong || head[0..<4].elementsEqual("RIFF".utf8), head[8..<12].elementsEqual("WAVE".utf8) else {
      throw .unsupported(path: name, reason: "it is no WAV stream")
    }
    var passed: Int64 = 0
    while true {
      let chunk = try take(8, from: source)
      let size = Int64(Self.integer(chunk[4..<8]))
      if chunk[0..<4].elementsEqual("data".utf8) {
        if !(isLong && dataSize > 0) { dataSize = size == 0xFFFF_FFFF ? 0 : size }
        if channelCount == 0 { throw .unsupported(path: name, reason: "its format is missing") }
        return
      }
      passed += size + 8
      if passed > Self.limit { throw .unsupported(path: name, reason: "too much stands before its samples") }
      let body = try take(Int(size + size % 2), from: source)
      if chunk[0..<4].elementsEqual("fmt ".utf8) { try understand(body) }
      if chunk[0..<4].elementsEqual("ds64".utf8) && body.count >= 16 {
        dataSize = Int64(clamping: Self.integer(body[8..<16]))
      }
    }
  }

  private mutating func understand(_ body: [UInt8]) throws(SoundFileError) {
    guard body.count >= 16 else { throw .broken(path: name, frame: 0, reason: "its format is cut off") }
    var tag = Self.integer(body[0..<2])
    if tag == 0xFFFE && body.count >= 26 { tag = Self.integer(body[24..<26]) }
    channelCount = Int(Self.integer(body[2..<4]))
    sampleRate = Int(Self.integer(body[4..<8]))
    bits = Int(Self.integer(body[14..<16]))
    isFloat = tag == 3
    let isKnown = tag == 1 ? [8, 16, 24, 32].contains(bits) : tag == 3 && [32, 64].contains(bits)
    guard isKnown else {
      throw .unsupported(path: name, reason: "its samples (format \(tag), \(bits) bits) are not known")
    }
    guard (1...SoundFileReader.maximumChannelCount).contains(channelCount) else {
      throw .unsupported(path: name, reason: "it has \(channelCount) channels, 1 to 32 are possible")
    }
    guard SoundFileReader.sampleRates.contains(sampleRate) else {
      throw .unsupported(path: name, reason: "its rate of \(sampleRate) Hz is not within 1000 to 768000")
    }
  }

  private func take(_ count: Int, from source: WaitableDescriptor) throws(SoundFileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard try WaveStreamReader.read(source, &bytes, count, name: name) == count else {
      throw .broken(path: name, frame: 0, reason: "it ends before its first sample")
    }
    return bytes
  }

  private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
