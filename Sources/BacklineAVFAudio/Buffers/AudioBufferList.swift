import Foundation

/// One buffer of a list: one channel's samples, or several channels' interleaved.
public struct AudioBuffer {
  public var mNumberChannels: UInt32
  public var mDataByteSize: UInt32
  public var mData: UnsafeMutableRawPointer?

  public init() { self.init(mNumberChannels: 0, mDataByteSize: 0, mData: nil) }

  public init(mNumberChannels: UInt32, mDataByteSize: UInt32, mData: UnsafeMutableRawPointer?) {
    self.mNumberChannels = mNumberChannels
    self.mDataByteSize = mDataByteSize
    self.mData = mData
  }
}

/// A list of buffers, laid out as on the Mac: the number, then so many buffers, of which the type shows the first.
public struct AudioBufferList {
  public var mNumberBuffers: UInt32
  public var mBuffers: AudioBuffer

  public init() {
    mNumberBuffers = 0
    mBuffers = AudioBuffer()
  }

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
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: sizeInBytes(maximumBuffers: maximumBuffers), alignment: MemoryLayout<AudioBufferList>.alignment)
    let list = memory.bindMemory(to: AudioBufferList.self, capacity: 1)
    list.initialize(to: AudioBufferList(mNumberBuffers: UInt32(maximumBuffers), mBuffers: AudioBuffer()))
    let buffers = UnsafeMutableAudioBufferListPointer(list)
    for index in 0..<maximumBuffers { buffers[index] = AudioBuffer() }
    return buffers
  }
}

/// The buffers of a list as a collection.
public struct UnsafeMutableAudioBufferListPointer: MutableCollection, RandomAccessCollection {
  public let unsafeMutablePointer: UnsafeMutablePointer<AudioBufferList>

  public init(_ p: UnsafeMutablePointer<AudioBufferList>) { unsafeMutablePointer = p }

  public init?(_ p: UnsafeMutablePointer<AudioBufferList>?) {
    guard let p else { return nil }
    unsafeMutablePointer = p
  }

  public var unsafePointer: UnsafePointer<AudioBufferList> { UnsafePointer(unsafeMutablePointer) }
  public var count: Int {
    get { Int(unsafeMutablePointer.pointee.mNumberBuffers) }
    nonmutating set { unsafeMutablePointer.pointee.mNumberBuffers = UInt32(newValue) }
  }
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  private func place(_ index: Int) -> UnsafeMutablePointer<AudioBuffer> {
    let offset = MemoryLayout<AudioBufferList>.offset(of: \.mBuffers) ?? 8
    return (UnsafeMutableRawPointer(unsafeMutablePointer) + offset).assumingMemoryBound(to: AudioBuffer.self) + index
  }

  public subscript(index: Int) -> AudioBuffer {
    get { place(index).pointee }
    nonmutating set { place(index).initialize(to: newValue) }
  }
}

/// A moment, as far as it is told here: a frame of the engine's.
public struct AudioTimeStamp {
  public var mSampleTime: Double = 0
  public var mHostTime: UInt64 = 0
  public var mRateScalar: Double = 1
  public var mFlags: AudioTimeStampFlags = []

  public init() {}
}

/// What of a time stamp is valid.
public struct AudioTimeStampFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let sampleTimeValid = AudioTimeStampFlags(rawValue: 1)
  public static let hostTimeValid = AudioTimeStampFlags(rawValue: 2)
}
