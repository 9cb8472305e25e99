import BacklineRealtime
import CBackline

/// One part of a partitioned convolution: a stretch of the impulse response in partitions of one length.
///
/// Overlap-save in the frequency domain with a delay line of spectra (Kulp, "Digital equalization using Fourier transform
/// techniques", AES 85, 1988; Gardner, "Efficient convolution without input-output delay", JAES 43, 1995). Blocks lie on
/// absolute frames that are multiples of their length. A level that is not spread works a block off at its end, for a
/// response that begins one block late; a spread level takes the next block's time for it, a share each quantum, for one that
/// begins two blocks late.
struct ConvolutionLevel {
  private static var products: Int { @_noLocks get { BacklineProducts } }

  let block: Int
  private let isSpread: Bool
  private let partitions: Int
  /// Partitions are multiplied `products` at once, a group, and each group slice by slice, so that a share is short.
  private let groups: Int
  private let slices: Int
  private let transform: ConvolutionTransform
  private let stride: Int
  private let pathCount: Int
  private let pathInputs: SIMD4<Int32>
  private let pathOutputs: SIMD4<Int32>

  private let memory: UnsafeMutablePointer<Float>
  private let memoryCount: Int
  /// For each input: the block before and the one that is coming in.
  private let inputs: UnsafeMutablePointer<Float>
  /// For each input: the two blocks that are being transformed.
  private let staged: UnsafeMutablePointer<Float>
  private let work: UnsafeMutablePointer<Float>
  /// For each output: the block that is heard, and the one that will be.
  private let outputs: UnsafeMutablePointer<Float>
  private let sums: UnsafeMutablePointer<Float>
  private let spectra: UnsafeMutablePointer<Float>
  private let kernels: UnsafeMutablePointer<Float>
  /// What is multiplied in one pass: spectra, after them kernels.
  private let factors: UnsafeMutablePointer<UnsafePointer<Float>>
  /// For each input and slot: whether the spectrum is there and not silent.
  private let isSounding: UnsafeMutablePointer<Bool>

  private var newest = 0
  private var heard = 0
  private var filled = 0
  private var hasSum = SIMD2<Int32>(repeating: 0)
  private var outputSounds = SIMD4<Int32>(repeating: 0)

  /// The part of `response` from frame `start` on, in `partitions` partitions of `block` frames.
  init(
    _ response: [[Float]], from start: Int, partitions: Int, block: Int, isSpread: Bool
  ) throws(ImpulseResponseError) {
    self.block = block
    self.isSpread = isSpread
    self.partitions = partitions
    groups = (partitions + Self.products - 1) / Self.products
    slices = isSpread ? 4 : 1
    transform = try ConvolutionTransform.of(block: block)
    stride = transform.stride
    let paths = ConvolutionPaths.of(channels: response.count)
    pathCount = paths.count
    var pathInputs = SIMD4<Int32>(repeating: 0), pathOutputs = SIMD4<Int32>(repeating: 0)
    for (index, path) in paths.enumerated() {
      pathInputs[index] = Int32(path.input)
      pathOutputs[index] = Int32(path.output)
    }
    self.pathInputs = pathInputs
    self.pathOutputs = pathOutputs
    let spectrum = 2 * stride
    let counts = [
      4 * block, 4 * block, spectrum, 4 * block, 2 * spectrum, 2 * partitions * spectrum,
      paths.count * partitions * spectrum,
    ]
    memoryCount = counts.reduce(0, +)
    memory = SampleMemory.allocate(memoryCount)
    var at = memory
    func take(_ index: Int) -> UnsafeMutablePointer<Float> {
      defer { at += counts[index] }
      return at
    }
    inputs = take(0)
    staged = take(1)
    work = take(2)
    outputs = take(3)
    sums = take(4)
    spectra = take(5)
    kernels = take(6)
    factors = .allocate(capacity: 2 * Self.products)
    factors.initialize(repeating: UnsafePointer(memory), count: 2 * Self.products)
    isSounding = .allocate(capacity: 2 * partitions)
    isSounding.initialize(repeating: false, count: 2 * partitions)
    for partition in 0..<partitions {
      for (index, path) in paths.enumerated() {
        fillKernel(response[path.channel], from: start + partition * block, kernel(partition, index))
      }
    }
  }

  func deallocate() {
    SampleMemory.free(memory)
    factors.deallocate()
    isSounding.deallocate()
  }

  private func fillKernel(_ channel: [Float], from start: Int, _ kernel: UnsafeMutablePointer<Float>) {
    backline_zero(staged, Int64(2 * block))
    let scale = 1 / Float(block)
    for i in 0..<block where start + i < channel.count { staged[i] = channel[start + i] * scale }
    transform.transform(staged, kernel, work: work)
  }

  @inline(__always) @_noLocks
  private func kernel(_ partition: Int, _ path: Int) -> UnsafeMutablePointer<Float> {
    kernels + (path &* partitions &+ partition) &* 2 &* stride
  }

  @inline(__always) @_noLocks
  private func spectrum(_ input: Int, _ slot: Int) -> UnsafeMutablePointer<Float> {
    spectra + (input &* partitions &+ slot) &* 2 &* stride
  }

  // MARK: Rendering

  /// Takes `count` frames at the absolute frame `frame` and adds what comes out; they lie within one quantum.
  @_noLocks
  mutating func process(
    _ frame: Int64, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
    _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>, count: Int
  ) {
    let into = Int(frame & Int64(block &- 1))
    if into & 31 == 0 { if isSpread { workShare(into &>> 5) } else if into == 0 { workBlock() } }
    backline_copy(inputs + (block &+ into), left, Int64(count))
    backline_copy(inputs + (3 &* block &+ into), right, Int64(count))
    let sounding = heard == 0 ? outputSounds.lowHalf : outputSounds.highHalf
    let output = outputs + (heard &* 2 &* block &+ into)
    if sounding.x != 0 { backline_add(leftOut, output, Int64(count)) }
    if sounding.y != 0 { backline_add(rightOut, output + block, Int64(count)) }
  }

  @_noLocks
  mutating func clear() {
    backline_zero(inputs, Int64(4 &* block))
    for i in 0..<max(0, 2 &* partitions) { isSounding[i] = false }
    filled = 0
    newest = 0
    heard = 0
    hasSum = .zero
    outputSounds = .zero
  }

  /// Everything at once, at the end of a block.
  @_noLocks
  private mutating func workBlock() {
    beginBlock()
    transformInput(0)
    transformInput(1)
    multiply(from: 0, to: pieceCount)
    invert(0, into: heard)
    invert(1, into: heard)
  }

  /// The share of one quantum, counted from the start of the block.
  @_noLocks
  private mutating func workShare(_ share: Int) {
    let last = block &>> 5 &- 1
    if share == 0 {
      heard = 1 &- heard
      beginBlock()
    } else if share <= 2 {
      transformInput(share &- 1)
    } else if share < last &- 1 {
      let pieces = pieceCount, shares = last &- 4
      let step = share &- 3
      multiply(from: pieces &* step / shares, to: pieces &* (step &+ 1) / shares)
    } else {
      invert(share &- last &+ 1, into: 1 &- heard)
    }
  }

  @_noLocks
  private mutating func beginBlock() {
    backline_copy(staged, inputs, Int64(4 &* block))
    backline_copy(inputs, inputs + block, Int64(block))
    backline_copy(inputs + 2 &* block, inputs + 3 &* block, Int64(block))
    newest = newest &+ 1 == partitions ? 0 : newest &+ 1
    filled = min(filled &+ 1, partitions)
    isSounding[newest] = false
    isSounding[partitions &+ newest] = false
    hasSum = .zero
  }

  @_noLocks
  private mutating func transformInput(_ input: Int) {
    let samples = staged + input &* 2 &* block
    if filled == 0 || backline_active_length(samples, Int64(2 &* block)) == 0 { return }
    transform.transform(samples, spectrum(input, newest), work: work)
    isSounding[input &* partitions &+ newest] = true
  }

  /// How many pieces of work the products are.
  private var pieceCount: Int { @inline(__always) @_noLocks get { pathCount &* groups &* slices } }

  /// Does the pieces from `first` up to `end`: path by path, some partitions at once, a slice of the spectrum.
  @_noLocks
  private mutating func multiply(from first: Int, to end: Int) {
    var piece = first
    while piece < end {
      let slice = piece % slices, row = piece / slices
      let path = row / groups, partition = (row &- path &* groups) &* Self.products
      // Only as many spectra as there have been blocks.
      addProducts(path, from: partition, to: min(partition &+ Self.products, min(partitions, filled)), slice)
      piece &+= 1
    }
  }

  /// Adds the products of at most `products` partitions of a path.
  @inline(__always) @_noLocks
  private mutating func addProducts(_ path: Int, from first: Int, to end: Int, _ slice: Int) {
    let input = Int(pathInputs[path]), output = Int(pathOutputs[path])
    let width = block / slices
    let sum = sums + output &* 2 &* stride
    var terms = 0
    var partition = first
    while partition < end {
      let slot = newest &- partition < 0 ? newest &- partition &+ partitions : newest &- partition
      if isSounding[input &* partitions &+ slot] {
        (factors + terms).initialize(to: UnsafePointer(spectrum(input, slot) + slice &* width))
        (factors + terms + Self.products).initialize(to: UnsafePointer(kernel(partition, path) + slice &* width))
        terms &+= 1
      }
      partition &+= 1
    }
    if terms == 0 { return }
    if hasSum[output] == 0 {
      backline_zero(sum, Int64(2 &* stride))
      hasSum[output] = 1
    }
    backline_add_products(
      sum + slice &* width, factors, factors + Self.products, Int32(truncatingIfNeeded: terms), Int64(stride),
      Int64(width))
  }

  @_noLocks
  private mutating func invert(_ output: Int, into buffer: Int) {
    outputSounds[2 &* buffer &+ output] = hasSum[output]
    if hasSum[output] == 0 { return }
    let sum = sums + output &* 2 &* stride
    transform.invert(sum, outputs + (2 &* buffer &+ output) &* block, work: work)
  }
}
