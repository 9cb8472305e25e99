import Foundation

/// One buffer of a list: one channel's samples, or several channels' interleaved.
public struct AudioBuffer {
  /// The channels side by side in this buffer.
  public var mNumberChannels: UInt32
  /// The bytes.
  public var mDataByteSize: UInt32
  /// The samples.
  public var mData: UnsafeMutableRawPointer?

  /// An empty buffer.
  public init() { self.init(mNumberChannels: 0, mDataByteSize: 0, mData: nil) }

  /// A buffer around memory of the caller's.
  public init(mNumberChannels: UInt32, mDataByteSize: UInt32, mData: UnsafeMutableRawPointer?) {
    self.mNumberChannels = mNumberChannels
    self.mDataByteSize = mDataByteSize
    self.mData = mData
  }
}

/// A list of buffers, laid out as on the Mac: the number, then so many buffers, of which the type shows the first.
public struct AudioBufferList {
  /// How many buffers there are.
  public var mNumberBuffers: UInt32
  /// The first of them.
  public var mBuffers: AudioBuffer

  /// A list without buffers.
  public init() {
    mNumberBuffers = 0
    mBuffers = AudioBuffer()
  }

  /// A list whose first buffer is this.
  public init(mNumberBuffers: UInt32, mBuffers: AudioBuffer) {
    self.mNumberBuffers = mNumberBuffers
    self.mBuffers = mBuffers
  }

  /// The bytes of a list of so many buffers.
  public static func sizeInBytes(maximumBuffers: Int) -> Int {
    MemoryLayout<AudioBufferList>.size + max(0, maximumBuffers - 1) * MemoryLayout<AudioBuffer>.stride
  }

  /// A list with room for so many buffers, freed by `unsafeMutablePointer.deallocate()`.
  public static func allocate(maximumBuffers: Int) -> UnsafeMutableAudioBufferListPointer {
    let maximumBuffers = max(0, maximumBuffers)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: sizeInBytes(maximumBuffers: maximumBuffers), alignment: MemoryLayout<AudioBufferList>.alignment)
    let list = memory.bindMemory(to: AudioBufferList.self, capacity: 1)
    list.initialize(to: AudioBufferList(mNumberBuffers: UInt32(clamping: maximumBuffers), mBuffers: AudioBuffer()))
    let buffers = UnsafeMutableAudioBufferListPointer(list)
    for index in 0..<maximumBuffers { buffers[index] = AudioBuffer() }
    return buffers
  }
}

/// The buffers of a list as a collection.
public struct UnsafeMutableAudioBufferListPointer: MutableCollection, RandomAccessCollection {
  /// The list.
  public let unsafeMutablePointer: UnsafeMutablePointer<AudioBufferList>

  /// The buffers of a list.
  public init(_ p: UnsafeMutablePointer<AudioBufferList>) { unsafeMutablePointer = p }

  /// The buffers of a list, where there is one.
  public init?(_ p: UnsafeMutablePointer<AudioBufferList>?) {
    guard let p else { return nil }
    unsafeMutablePointer = p
  }

  /// The list, to be read.
  public var unsafePointer: UnsafePointer<AudioBufferList> { UnsafePointer(unsafeMutablePointer) }
  /// How many buffers there are.
  public var count: Int {
    get { Int(unsafeMutablePointer.pointee.mNumberBuffers) }
    nonmutating set { unsafeMutablePointer.pointee.mNumberBuffers = UInt32(clamping: newValue) }
  }
  /// The first index.
  public var startIndex: Int { 0 }
  /// The index after the last.
  public var endIndex: Int { count }

  private func place(_ index: Int) -> UnsafeMutablePointer<AudioBuffer> {
    let offset = MemoryLayout<AudioBufferList>.offset(of: \.mBuffers) ?? 8
    return (UnsafeMutableRawPointer(unsafeMutablePointer) + offset).assumingMemoryBound(to: AudioBuffer.self) + index
  }

  /// One of the buffers.
  public subscript(index: Int) -> AudioBuffer {
    get { place(index).pointee }
    nonmutating set { place(index).initialize(to: newValue) }
  }
}

/// A moment, as far as it is told here: a frame of the engine's.
public struct AudioTimeStamp {
  /// The frame.
  public var mSampleTime: Double = 0
  /// Nanoseconds of CLOCK_MONOTONIC, where they are valid.
  public var mHostTime: UInt64 = 0
  /// Always 1.
  public var mRateScalar: Double = 1
  /// What of it is valid.
  public var mFlags: AudioTimeStampFlags = []

  /// Nothing valid yet.
  public init() {}
}

/// What of a time stamp is valid.
public struct AudioTimeStampFlags: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// A set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The frame is valid.
  public static let sampleTimeValid = AudioTimeStampFlags(rawValue: 1)
  /// The time of the clock is valid.
  public static let hostTimeValid = AudioTimeStampFlags(rawValue: 2)
}
