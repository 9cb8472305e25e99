import BacklineEngine
import CBackline
import Synchronization

/// The end of a pipeline: lays blocks out frame by frame, holds back what may be nothing but silence to the end, measures, writes.
final class OutputStage: @unchecked Sendable {
  // Why unchecked: used by the thread that writes, which is joined before `finish`.

  /// `nil` where nobody knows before the end.
  let expectedFrames: Int64?
  /// The largest magnitude so far.
  private(set) var peak: Float = 0
  private let destination: any OfflineDestination
  private let channelCount: Int
  private let sampleRate: Int
  private let interleaved: UnsafeMutablePointer<Float>
  private let held: SpillBuffer
  private let frames = Atomic<Int64>(0)

  init(
    _ destination: any OfflineDestination, channelCount: Int, sampleRate: Int, expectedFrames: Int64?,
    blockFrames: Int
  ) {
    self.destination = destination
    self.channelCount = channelCount
    self.sampleRate = sampleRate
    self.expectedFrames = expectedFrames
    interleaved = .allocate(capacity: blockFrames * channelCount)
    held = SpillBuffer(channelCount: channelCount)
  }

  deinit { interleaved.deallocate() }

  /// The frames that have been written.
  var frameCount: Int64 { frames.load(ordering: .relaxed) }

  func begin() throws(OfflineError) {
    try destination.begin(sampleRate: sampleRate, channelCount: channelCount, expectedFrames: expectedFrames)
  }

  func write(_ block: SampleBlock) throws(OfflineError) {
    if block.count == 0 { return }
    var moved = (0..<channelCount).map { UnsafePointer(block.channels[$0]) }
    backline_interleave(&moved, Int32(channelCount), Int64(block.count), interleaved)
    if !block.isTail { return try put(interleaved, block.count) }
    let loud = loudFrames(block.count)
    if loud > 0 {
      try release()
      try put(interleaved, loud)
    }
    try held.append(interleaved + loud * channelCount, frames: block.count - loud)
  }

  /// The frames up to and with the last that is above the threshold.
  private func loudFrames(_ count: Int) -> Int {
    var index = count * channelCount
    while index > 0 && interleaved[index - 1].magnitude <= TailPolicy.threshold { index -= 1 }
    return (index + channelCount - 1) / channelCount
  }

  private func release() throws(OfflineError) {
    try held.replay { samples, count throws(OfflineError) in try put(samples, count) }
    held.removeAll()
  }

  private func put(_ samples: UnsafePointer<Float>, _ count: Int) throws(OfflineError) {
    peak = max(peak, backline_peak(samples, Int64(count * channelCount)))
    try destination.write(samples, frames: count)
    frames.store(frames.load(ordering: .relaxed) + Int64(count), ordering: .relaxed)
  }

  /// Ends the output, with or without what has been held back.
  func finish(keepsTail: Bool) throws(OfflineError) -> DestinationReport {
    if keepsTail { try release() }
    return try destination.finish()
  }
}
