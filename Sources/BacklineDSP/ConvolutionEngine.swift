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
  /// For each input: the last 63 frames, and the piece that comes.
  private let history: UnsafeMutablePointer<Float>
  private let historyStride: Int
  private var short: ConvolutionLevel?
  private var middle: ConvolutionLevel?
  private var long: ConvolutionLevel?

  /// An engine for a response of 1, 2 or 4 channels (`ConvolutionPaths`) of equal length, at least one frame.
  init(_ response: [[Float]]) {
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
    historyStride = Self.headLength + Int(Quantum.frames)
    history = SampleMemory.allocate(2 * historyStride)
    func level(from start: Int, to end: Int?, block: Int, isSpread: Bool) -> ConvolutionLevel? {
      let length = min(frameCount, end ?? frameCount) - start
      if length <= 0 { return nil }
      return ConvolutionLevel(
        response, from: start, partitions: (length + block - 1) / block, block: block, isSpread: isSpread)
    }
    short = level(from: 64, to: 1024, block: 64, isSpread: false)
    middle = level(from: 1024, to: 8192, block: 512, isSpread: true)
    long = level(from: 8192, to: nil, block: 4096, isSpread: true)
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
    let past = Self.headLength &- 1
    backline_copy(history + past, left, Int64(count))
    backline_copy(history + (historyStride &+ past), right, Int64(count))
    for path in 0..<max(0, pathCount) {
      backline_add_fir(
        pathOutputs[path] == 0 ? leftOut : rightOut, history + (Int(pathInputs[path]) &* historyStride &+ past),
        taps + path &* Self.headLength, Int64(Self.headLength), Int64(count))
    }
    for i in 0..<max(0, past) {
      history[i] = history[i &+ count]
      history[historyStride &+ i] = history[historyStride &+ i &+ count]
    }
    short?.process(frame, left, right, leftOut, rightOut, count: count)
    middle?.process(frame, left, right, leftOut, rightOut, count: count)
    long?.process(frame, left, right, leftOut, rightOut, count: count)
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
