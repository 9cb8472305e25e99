import Glibc

/// Writes a WAV stream to where nothing can be sought, such as a pipe, which libsndfile refuses.
///
/// The header says the length where it is known and fits, else all ones, as FFmpeg and SoX understand it. Used by one
/// thread, but for `cancel`.
public final class WaveStreamWriter {
  private let name: String
  private let target: WaitableDescriptor
  private var encoder: SampleEncoder?
  private var channelCount = 1

  /// The descriptor is not closed. `name` is what it is called in errors.
  public init(descriptor: Int32, name: String) {
    self.name = name
    target = WaitableDescriptor(descriptor)
  }

  /// Samples that were too loud for whole numbers.
  public var clippedCount: Int64 { encoder?.clippedCount ?? 0 }

  /// Ends a write that waits, from any thread.
  public func cancel() { target.cancel() }

  /// Writes the header.
  public func begin(_ encoding: SoundFileEncoding, expectedFrames: Int64?) throws(SoundFileWriteError) {
    guard let format = encoding.sampleFormat else { throw .unsupported("only WAV goes into a stream") }
    channelCount = encoding.channelCount
    encoder = SampleEncoder(format, channelCount: channelCount, isBigEndian: false)
    let frameSize = channelCount * format.bits / 8
    let size = expectedFrames.map { $0 * Int64(frameSize) } ?? .max
    // With an odd length comes one byte of padding.
    let isKnown = size <= 0xFFFF_FF00
    var bytes: [UInt8] = []
    bytes += "RIFF".utf8
    append(isKnown ? UInt32(36 + size + size % 2) : .max, to: &bytes)
    bytes += "WAVEfmt ".utf8
    append(UInt32(16), to: &bytes)
    append(UInt16(format.isFloat ? 3 : 1), to: &bytes)
    append(UInt16(channelCount), to: &bytes)
    append(UInt32(encoding.sampleRate), to: &bytes)
    append(UInt32(clamping: encoding.sampleRate * frameSize), to: &bytes)
    append(UInt16(frameSize), to: &bytes)
    append(UInt16(format.bits), to: &bytes)
    bytes += "data".utf8
    append(isKnown ? UInt32(size) : .max, to: &bytes)
    try bytes.withUnsafeBufferPointer { buffer throws(SoundFileWriteError) in
      if let base = buffer.baseAddress { try put(base, buffer.count) }
    }
  }

  /// Writes `frames` interleaved frames.
  public func write(_ samples: UnsafePointer<Float>, frames: Int) throws(SoundFileWriteError) {
    guard let encoder else { throw .failed(path: name, code: EBADF) }
    var done = 0
    while done < frames {
      let count = min(SampleEncoder.pieceFrames, frames - done)
      let size = encoder.pack(samples + done * channelCount, frames: count)
      try put(encoder.bytes, size)
      done += count
    }
  }

  private func put(_ bytes: UnsafePointer<UInt8>, _ count: Int) throws(SoundFileWriteError) {
    var done = 0
    while done < count {
      if !target.wait(forWriting: true) { throw .failed(path: name, code: ECANCELED) }
      // No more than a pipe takes at once, so that the wait is where waiting is done.
      let written = Glibc.write(target.number, bytes + done, min(count - done, Int(PIPE_BUF)))
      if written < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      if written < 0 { throw .failed(path: name, code: errno) }
      done += written
    }
  }

  private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
  }
}
