import BacklineRealtime
import Glibc

/// Samples in memory: `frameCapacity` frames of room, of which `frameLength` hold sound.
///
/// Memory begins at a cache line and is silent at first. A buffer belongs to one thread at a time.
public final class PCMBuffer {
  /// What the samples are.
  public let format: AudioFormat
  /// The frames that fit.
  public let frameCapacity: Int
  private var length: Int
  private let memory: UnsafeMutableRawPointer
  private let floats: UnsafeMutablePointer<UnsafeMutablePointer<Float>>?
  private let shorts: UnsafeMutablePointer<UnsafeMutablePointer<Int16>>?
  private let longs: UnsafeMutablePointer<UnsafeMutablePointer<Int32>>?

  /// The most bytes of a buffer.
  private static let mostBytes = 1 << 36
  /// The bytes for which nobody asks first whether the machine has them.
  private static let smallBytes = 1 << 20

  /// An empty buffer; `nil` for a format that is not valid, for no or a negative number of frames, and where memory is short.
  public init?(format: AudioFormat, frameCapacity: Int) {
    guard format.isValid, frameCapacity > 0 else { return nil }
    let (bytes, isTooMuch) = frameCapacity.multipliedReportingOverflow(
      by: format.channelCount * format.sampleType.byteCount)
    guard !isTooMuch, bytes <= Self.mostBytes else { return nil }
    if bytes > Self.smallBytes && !SampleMemory.isAvailable(bytes: bytes) { return nil }
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, 64, bytes) == 0, let memory else { return nil }
    memset(memory, 0, bytes)
    self.format = format
    self.frameCapacity = frameCapacity
    self.memory = memory
    length = 0
    floats = format.sampleType == .float32 ? Self.channels(memory, format, frameCapacity) : nil
    shorts = format.sampleType == .int16 ? Self.channels(memory, format, frameCapacity) : nil
    longs = format.sampleType == .int32 ? Self.channels(memory, format, frameCapacity) : nil
  }

  private static func channels<Sample: BitwiseCopyable>(
    _ memory: UnsafeMutableRawPointer, _ format: AudioFormat, _ capacity: Int
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<Sample>> {
    let base = memory.bindMemory(to: Sample.self, capacity: capacity * format.channelCount)
    let table = UnsafeMutablePointer<UnsafeMutablePointer<Sample>>.allocate(capacity: format.channelCount)
    for channel in 0..<format.channelCount {
      (table + channel).initialize(to: base + channel * (format.isInterleaved ? 1 : capacity))
    }
    return table
  }

  deinit {
    floats?.deallocate()
    shorts?.deallocate()
    longs?.deallocate()
    free(memory)
  }

  /// The frames that hold sound, 0 to `frameCapacity`: a number outside is taken as the nearest of these.
  public var frameLength: Int {
    get { length }
    set { length = min(max(0, newValue), frameCapacity) }
  }

  /// The samples from one frame of a channel to the next.
  public var stride: Int { format.isInterleaved ? format.channelCount : 1 }

  /// A pointer a channel, of 32-bit floating point samples; `nil` for other kinds. Steps are `stride` samples wide.
  public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? { floats.map { UnsafePointer($0) } }
  /// The same of 16-bit samples.
  public var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? { shorts.map { UnsafePointer($0) } }
  /// The same of 32-bit whole samples.
  public var int32ChannelData: UnsafePointer<UnsafeMutablePointer<Int32>>? { longs.map { UnsafePointer($0) } }
  /// All samples, of whatever kind.
  public var bytes: UnsafeMutableRawPointer { memory }

  /// The sample of a frame and channel on a scale from -1 to 1; 0 outside of the sound.
  public subscript(frame: Int, channel: Int) -> Float {
    get {
      guard (0..<length).contains(frame), (0..<format.channelCount).contains(channel) else { return 0 }
      return sample(place(frame, channel))
    }
    set {
      guard (0..<length).contains(frame), (0..<format.channelCount).contains(channel) else { return }
      store(newValue, at: place(frame, channel))
    }
  }

  /// The samples of a channel on a scale from -1 to 1.
  public func samples(ofChannel channel: Int) -> [Float] {
    guard (0..<format.channelCount).contains(channel) else { return [] }
    return (0..<length).map { sample(place($0, channel)) }
  }

  /// Makes every sample zero; lengths stay.
  public func clear() { memset(memory, 0, frameCapacity * format.channelCount * format.sampleType.byteCount) }

  /// A copy of the sound, with room for just that.
  public func copy() -> PCMBuffer? {
    guard let copy = PCMBuffer(format: format, frameCapacity: max(1, length)) else { return nil }
    copy.frameLength = length
    for channel in 0..<(format.isInterleaved ? 1 : format.channelCount) {
      let samples = format.isInterleaved ? length * format.channelCount : length
      let width = format.sampleType.byteCount
      memcpy(
        copy.memory + channel * copy.frameCapacity * width, memory + channel * frameCapacity * width, samples * width)
    }
    return copy
  }

  // MARK: Single samples

  private func place(_ frame: Int, _ channel: Int) -> Int {
    format.isInterleaved ? frame * format.channelCount + channel : channel * frameCapacity + frame
  }

  private func sample(_ place: Int) -> Float {
    switch format.sampleType {
    case .float32: memory.assumingMemoryBound(to: Float.self)[place]
    case .float64: Float(memory.assumingMemoryBound(to: Double.self)[place])
    case .int16: Float(memory.assumingMemoryBound(to: Int16.self)[place]) * 0x1p-15
    case .int32: Float(Double(memory.assumingMemoryBound(to: Int32.self)[place]) * 0x1p-31)
    }
  }

  private func store(_ sample: Float, at place: Int) {
    switch format.sampleType {
    case .float32: memory.assumingMemoryBound(to: Float.self)[place] = sample
    case .float64: memory.assumingMemoryBound(to: Double.self)[place] = Double(sample)
    case .int16:
      let scaled = sample.isFinite ? (sample * 0x1p15).rounded() : 0
      memory.assumingMemoryBound(to: Int16.self)[place] = Int16(min(max(scaled, -0x1p15), 32_767))
    case .int32:
      let scaled = sample.isFinite ? (Double(sample) * 0x1p31).rounded() : 0
      memory.assumingMemoryBound(to: Int32.self)[place] = Int32(min(max(scaled, -0x1p31), 2_147_483_647))
    }
  }

  // MARK: Moving sound

  /// Writes `count` frames from `frame` on to planes of floating point, a plane a channel.
  func read(from frame: Int, count: Int, into planes: [UnsafeMutablePointer<Float>]) {
    for (channel, plane) in planes.enumerated() where channel < format.channelCount {
      if let floats, !format.isInterleaved {
        plane.update(from: floats[channel] + frame, count: count)
      } else {
        for i in 0..<count { plane[i] = sample(place(frame + i, channel)) }
      }
    }
  }

  /// Takes `count` frames from `frame` on out of planes of floating point.
  func write(at frame: Int, count: Int, from planes: [UnsafePointer<Float>]) {
    for (channel, plane) in planes.enumerated() where channel < format.channelCount {
      if let floats, !format.isInterleaved {
        (floats[channel] + frame).update(from: plane, count: count)
      } else {
        for i in 0..<count { store(plane[i], at: place(frame + i, channel)) }
      }
    }
  }

  /// Writes `count` frames from `frame` on as interleaved floating point.
  func readInterleaved(from frame: Int, count: Int, into samples: UnsafeMutablePointer<Float>) {
    let channels = format.channelCount
    if let floats, format.isInterleaved {
      samples.update(from: floats[0] + frame * channels, count: count * channels)
      return
    }
    for channel in 0..<channels {
      if let line = floats?[channel] {
        for i in 0..<count { samples[i * channels + channel] = line[frame + i] }
      } else {
        for i in 0..<count { samples[i * channels + channel] = sample(place(frame + i, channel)) }
      }
    }
  }

  /// Takes `count` frames from `frame` on out of interleaved floating point.
  func writeInterleaved(at frame: Int, count: Int, from samples: UnsafePointer<Float>) {
    let channels = format.channelCount
    for channel in 0..<channels {
      for i in 0..<count { store(samples[i * channels + channel], at: place(frame + i, channel)) }
    }
  }
}
