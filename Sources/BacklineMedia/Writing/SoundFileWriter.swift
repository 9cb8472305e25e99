import CBackline
import CSndFile
import Glibc

/// Writes one sound file through libsndfile, from interleaved samples.
///
/// It writes to a descriptor that somebody else keeps, such as that of a `StagedFile`, and knows of no threads: used by one at
/// a time. Whole-number formats of 16 and 24 bits are dithered (`SampleEncoder`).
public final class SoundFileWriter {
  /// What the first and the last block of the file have to read back as.
  struct Proof {
    static let frames = 1024
    /// Interleaved; at most `frames` frames.
    var first: [Float] = []
    var last: [Float] = []
  }

  public let encoding: SoundFileEncoding
  /// The frames written so far.
  public private(set) var frameCount: Int64 = 0
  private let path: String
  private let sink: FileSink
  private var file: OpaquePointer?
  private let encoder: SampleEncoder?
  private(set) var proof = Proof()
  private let metadata: SoundFileMetadata

  /// More at once makes the stack of libvorbis overflow (libsndfile 1.2.0).
  private static let lossyPieceFrames = 4096
  /// WAV counts its bytes in 32 bits; the headers and texts fit into the difference.
  private static let wavLimit: Int64 = (4 << 30) - (32 << 20)
  private static let silencePieceFrames = 1 << 16
  private var mayGrow = false

  /// Begins a file on `descriptor`, which is open for reading and writing and empty. `path` is the name in errors.
  ///
  /// `expectedFrames` is how many will be written, where that is known: a WAV file that will not fit into 4 GiB, or may not,
  /// becomes an RF64 file (EBU Tech 3306) if it turns out so.
  public init(
    descriptor: Int32, path: String, encoding: SoundFileEncoding, metadata: SoundFileMetadata = SoundFileMetadata(),
    expectedFrames: Int64? = nil
  ) throws(SoundFileWriteError) {
    self.encoding = encoding
    self.path = path
    self.metadata = metadata
    sink = FileSink(descriptor)
    encoder = encoding.sampleFormat.map {
      SampleEncoder($0, channelCount: encoding.channelCount, isBigEndian: encoding.container == .aiff)
    }
    var code = encoding.container.code | (encoding.sampleFormat?.code ?? 0)
    if encoding.container == .wav {
      let bytes = Int64(encoding.bytesPerFrame ?? 1)
      mayGrow = expectedFrames.map { $0 > Self.wavLimit / bytes } ?? true
      if mayGrow { code = SF_FORMAT_RF64 | (encoding.sampleFormat?.code ?? 0) }
    }
    var info = SF_INFO()
    info.samplerate = Int32(encoding.sampleRate)
    info.channels = Int32(encoding.channelCount)
    info.format = Int32(code)
    var calls = FileSink.calls
    guard let file = sf_open_virtual(&calls, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(sink).toOpaque())
    else { throw failure(String(cString: sf_strerror(nil))) }
    self.file = file
    // The peaks of a file are of no use to anybody here, and would make two files of the same sound differ by their date.
    if encoding.container == .aiff && encoding.sampleFormat?.isFloat == true { sink.startAgain() }
    sf_command(file, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
    if mayGrow {
      // Beyond 4 GiB libsndfile 1.2.0 would write a header of another length over the beginning of the sound.
      sink.reportedLimit = Self.wavLimit
      sf_command(file, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, Int32(SF_TRUE))
    }
    metadata.write(to: file)
  }

  deinit { if let file { sf_close(file) } }

  /// Samples that were too loud for whole numbers and have been clipped.
  public var clippedCount: Int64 { encoder?.clippedCount ?? 0 }

  /// Has writing fail from a place of the file on, as on a disk that is full.
  func failWriting(from offset: Int64) { sink.failingOffset = offset }

  /// Writes `frames` interleaved frames.
  public func write(_ samples: UnsafePointer<Float>, frames: Int) throws(SoundFileWriteError) {
    guard let file else { throw .failed(path: path, code: EBADF) }
    var done = 0
    while done < frames {
      let limit = encoding.isLossless ? SampleEncoder.pieceFrames : Self.lossyPieceFrames
      let count = min(limit, frames - done)
      try writePiece(file, samples + done * encoding.channelCount, count)
      done += count
    }
  }

  private func writePiece(
    _ file: OpaquePointer, _ samples: UnsafePointer<Float>, _ count: Int
  ) throws(SoundFileWriteError) {
    let isWritten: Bool
    if let encoder, encoding.container.isPlain {
      let bytes = encoder.pack(samples, frames: count)
      isWritten = sf_write_raw(file, encoder.bytes, sf_count_t(bytes)) == bytes
    } else if let encoder {
      encoder.justify(samples, frames: count)
      isWritten = sf_writef_int(file, encoder.whole, sf_count_t(count)) == count
    } else {
      isWritten = sf_writef_float(file, samples, sf_count_t(count)) == count
    }
    guard isWritten, sink.errorCode == 0 else { throw failure(String(cString: sf_strerror(file))) }
    frameCount += Int64(count)
    remember(samples, count)
  }

  /// Keeps what the beginning and the end have to read back as.
  private func remember(_ samples: UnsafePointer<Float>, _ count: Int) {
    guard let encoder else { return }
    let channels = encoding.channelCount
    let frames = min(count, Proof.frames)
    let tail = [Float](unsafeUninitializedCapacity: frames * channels) { buffer, length in
      if let base = buffer.baseAddress {
        encoder.readBack(
          samples, lastOf: count, frames: frames, isJustified: !encoding.container.isPlain, into: base)
      }
      length = frames * channels
    }
    let missing = Proof.frames * channels - proof.first.count
    if missing > 0 {
      let head = [Float](unsafeUninitializedCapacity: count * channels) { buffer, length in
        if let base = buffer.baseAddress {
          encoder.readBack(
            samples, lastOf: count, frames: count, isJustified: !encoding.container.isPlain, into: base)
        }
        length = count * channels
      }
      proof.first += head.prefix(missing)
    }
    if frames == Proof.frames {
      proof.last = tail
    } else {
      proof.last = Array((proof.last + tail).suffix(Proof.frames * channels))
    }
  }

  /// Writes `frames` frames of silence to a file without any yet, without a byte of room on the disk. Plain kinds of file only.
  func writeSilence(frames: Int64) throws(SoundFileWriteError) {
    guard let file, encoding.container.isPlain, let width = encoding.bytesPerFrame, frameCount == 0 else {
      throw .failed(path: path, code: EBADF)
    }
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: Self.silencePieceFrames * width, alignment: 16)
    memset(bytes, 0, Self.silencePieceFrames * width)
    defer { bytes.deallocate() }
    sink.isSkipping = true
    defer { sink.isSkipping = false }
    while frameCount < frames {
      let count = min(Int64(Self.silencePieceFrames), frames - frameCount)
      guard sf_write_raw(file, bytes, count * Int64(width)) == count * Int64(width), sink.errorCode == 0 else {
        throw failure(String(cString: sf_strerror(file)))
      }
      frameCount += count
    }
    let silence = [Float](repeating: 0, count: Int(min(frames, Int64(Proof.frames))) * encoding.channelCount)
    proof = Proof(first: silence, last: silence)
  }

  /// Brings the header up to what has been written, so that a file whose program is killed can be read up to there.
  public func updateHeader() throws(SoundFileWriteError) {
    guard let file else { throw .failed(path: path, code: EBADF) }
    sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
    if sink.errorCode != 0 { throw .failed(path: path, code: sink.errorCode) }
    if mayGrow && writtenBytes > Self.wavLimit { try fixSizes() }
  }

  private var writtenBytes: Int64 { frameCount * Int64(encoding.bytesPerFrame ?? 0) }

  private func fixSizes() throws(SoundFileWriteError) {
    let code = RIFFSizes.write(sink.descriptor, dataBytes: writtenBytes)
    if code != 0 { throw .failed(path: path, code: code) }
  }

  /// Ends the file. What it holds is on its way to the disk, not there: the owner of the descriptor syncs it.
  public func finish() throws(SoundFileWriteError) {
    guard let file else { throw .failed(path: path, code: EBADF) }
    self.file = nil
    let code = sf_close(file)
    guard code == 0, sink.errorCode == 0 else { throw failure(String(cString: sf_error_number(code))) }
    if mayGrow { try fixSizes() }
    if encoding.channelCount > 2 { ChannelMask.clear(sink.descriptor) }
  }

  /// Reads the finished file back: its header, its length, its first and last block, equal to what was written where the format is
  /// lossless (R12). Returns the metadata that it was given and does not have.
  public func verify(_ filePath: String) throws(SoundFileWriteError) -> [String] {
    try SoundFileProof(self, filePath, path: path).check()
    return metadata.missing(in: filePath)
  }

  private func failure(_ reason: String) -> SoundFileWriteError {
    sink.errorCode != 0 ? .failed(path: path, code: sink.errorCode) : .encoder(path: path, reason: reason)
  }
}
