/// Which input goes through which channel of an impulse response to which output.
enum ConvolutionPaths {
  /// The paths of a response with 1 channel (the same for both sides), 2 (each side its own) or 4 (true stereo: left to left,
  /// left to right, right to left, right to right).
  static func of(channels: Int) -> [(input: Int, output: Int, channel: Int)] {
    switch channels {
    case 1: [(0, 0, 0), (1, 1, 0)]
    case 2: [(0, 0, 0), (1, 1, 1)]
    default: [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3)]
    }
  }
}
