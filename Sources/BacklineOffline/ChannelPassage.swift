import BacklineEngine
import CBackline

/// How the channels of a source become those of a graph's inputs (R8).
enum ChannelPassage: Equatable {
  case same(Int)
  /// One channel to two.
  case doubled
  /// Two channels to one, at half their sum.
  case halved
  /// The graph listens to nothing: the source only says how long.
  case unheard(Int)

  init(from sourceChannels: Int, to inputs: Int, sourceName: String) throws(OfflineError) {
    switch (sourceChannels, inputs) {
    case (_, 0): self = .unheard(sourceChannels)
    case (1, 2): self = .doubled
    case (2, 1): self = .halved
    case _ where sourceChannels == inputs: self = .same(inputs)
    default:
      throw OfflineError(
        .badData,
        "\(sourceName) has \(sourceChannels) channels, and the preset has \(inputs) inputs: only 1 goes to 2, and 2 to 1"
      )
    }
  }

  /// Lays interleaved frames out in a block, from its frame `start` on.
  func lay(_ samples: UnsafePointer<Float>, frames: Int, in block: SampleBlock, from start: Int) {
    switch self {
    case .unheard: break
    case .same(let count):
      var moved = (0..<count).map { block.channels[$0] + start }
      backline_deinterleave(samples, Int32(count), Int64(frames), &moved)
    case .doubled:
      backline_copy(block.channels[0] + start, samples, Int64(frames))
      backline_copy(block.channels[1] + start, samples, Int64(frames))
    case .halved:
      let to = block.channels[0] + start
      for index in 0..<frames { to[index] = (samples[2 * index] + samples[2 * index + 1]) * 0.5 }
    }
  }
}
