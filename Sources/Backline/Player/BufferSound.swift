import BacklineMedia

/// A buffer's sound, to be read from any frame on.
struct BufferSound: SampleSource {
  let buffer: PCMBuffer

  var sampleRate: Int { Int(buffer.format.sampleRate) }
  var channelCount: Int { buffer.format.channelCount }
  var frameCount: Int64 { Int64(buffer.frameLength) }
  var path: String { "the buffer" }

  func read(at frame: Int64, into samples: UnsafeMutablePointer<Float>, count: Int) throws(SoundFileError) -> Int {
    guard (0..<frameCount).contains(frame) else { return 0 }
    let read = Int(min(Int64(count), frameCount - frame))
    buffer.readInterleaved(from: Int(frame), count: read, into: samples)
    return read
  }
}
