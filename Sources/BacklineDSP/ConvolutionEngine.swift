import BacklineRealtime
import CBackline

/// A stereo convolution without latency: the head of the impulse response directly, the rest in partitions that grow.
///
/// 64 taps directly, up to 1024 in partitions of 64, up to 8192 in partitions of 512, then of 4096 (`ConvolutionLevel`;
/// non-uniform partitions after Gardner, JAES 43, 1995). All work is done by the thread that renders, at quantum edges given by
/// the absolute frame, and that of the longer partitions is spread over their time, so that no block is dear. Equal to the
/// sum of products but for the rounding of Float. Made and freed by control threads.
struct ConvolutionEngine {
  /// What is convolved directly.
  private static var headLength: Int { @_noLocks get { 64 } }

  /// The length of the response in frames.
  let frameCount: Int
  private let pathCount: Int
  private let pathInputs: SIMD4<Int32>
  private let pathOutputs: SIMD4<Int32>
  private let taps: UnsafeMutablePointer<Float>
  /// For each input: at least the last 63 frames, and room for some quanta to come.
  private let history: UnsafeMutablePointer<Float>
  private let historyStride: Int
  /// Where the next frame goes.
  private var position = headLength - 1
  private var short: ConvolutionLevel? = nil
  private var middle: ConvolutionLevel? = nil
  private var long: ConvolutionLevel? = nil

  /// The bytes that an engine takes, at most: the spectra of two inputs and of each path, of twice their blocks' length.
  static func bytes(channels: Int, frames: Int) -> Int {
    (2 + ConvolutionPaths.of(channels: channels).count) * frames * 2 * 4 * 5 / 4 + 1 << 20
  }

  /// An engine for a response of 1, 2 or 4 channels (`ConvolutionPaths`) of equal length, at least one frame.
  init(_ response: [[Float]]) throws(ImpulseResponseError) {
    let paths = ConvolutionPaths.of(channels: response.count)
    frameCount = response[0].count
    pathCount = paths.count
    var pathInputs = SIMD4<Int32>(repeating: 0), pathOutputs = SIMD4<Int32>(repeating: 0)
    taps = SampleMemory.allocate(4 * Self.headLength)
    for (index, path) in paths.enumerated() {
      pathInputs[index] = Int32(path.input)
      pathOutputs[index] = Int32(path.output)
      for i in 0..<min(Self.headLength, frameCount) { taps[index * Self.headLength + i] = response[path.channel][i] }
    }
    self.pathInputs = pathInputs
    self.pathOutputs = pathOutputs
    historyStride = Self.headLength + 32 * Int(Quantum.frames)
    history = SampleMemory.allocate(2 * historyStride)
    func level(
      from start: Int, to end: Int?, block: Int, isSpread: Bool
    ) throws(ImpulseResponseError) -> ConvolutionLevel? {
      let length = min(frameCount, end ?? frameCount) - start
      if length <= 0 { return nil }
      return try ConvolutionLevel(
        response, from: start, partitions: (length + block - 1) / block, block: block, isSpread: isSpread)
    }
    do throws(ImpulseResponseError) {
      short = try level(from: 64, to: 1024, block: 64, isSpread: false)
      middle = try level(from: 1024, to: 8192, block: 512, isSpread: true)
      long = try level(from: 8192, to: nil, block: 4096, isSpread: true)
    } catch {
      deallocate()
      throw error
    }
  }

  func deallocate() {
    SampleMemory.free(taps)
    SampleMemory.free(history)
    short?.deallocate()
    middle?.deallocate()
    long?.deallocate()
  }

  /// The frames until nothing is left inside after the input has ended: the response, and what the rounding of the longest
  /// blocks that heard the input leaves around it.
  var tail: Int {
    @_noLocks get { frameCount &+ 2 &* (frameCount > 8192 ? 4096 : frameCount > 1024 ? 512 : frameCount > 64 ? 64 : 0) }
  }

  /// Takes `count` frames at the absolute frame `frame`, all within one quantum, and adds what comes out.
  @_noLocks
  mutating func process(
    _ frame: Int64, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
    _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>, count: Int
  ) {
    if position &+ count > historyStride { rewind() }
    backline_copy(history + position, left, Int64(count))
    backline_copy(history + (historyStride &+ position), right, Int64(count))
    for path in 0..<max(0, pathCount) {
      backline_add_fir(
        pathOutputs[path] == 0 ? leftOut : rightOut, history + (Int(pathInputs[path]) &* historyStride &+ position),
        taps + path &* Self.headLength, Int64(Self.headLength), Int64(count))
    }
    position &+= count
    short?.process(frame, left, right, leftOut, rightOut, count: count)
    middle?.process(frame, left, right, leftOut, rightOut, count: count)
    long?.process(frame, left, right, leftOut, rightOut, count: count)
  }

  /// Brings the last 63 frames to the beginning.
  @inline(never) @_noLocks
  private mutating func rewind() {
    let past = Self.headLength &- 1
    backline_copy(history, history + (position &- past), Int64(past))
    backline_copy(history + historyStride, history + (historyStride &+ position &- past), Int64(past))
    position = past
  }

  /// Forgets the past.
  @_noLocks
  mutating func clear() {
    backline_zero(history, Int64(2 &* historyStride))
    short?.clear()
    middle?.clear()
    long?.clear()
  }
}
