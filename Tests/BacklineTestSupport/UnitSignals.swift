import BacklineDSP

extension UnitDescription {
  /// The buses that a test connects: three where their number grows.
  private var testedInputs: [Bus] {
    growingInputs == nil ? inputs : (0..<3).map { _ in inputs[0] }
  }

  /// Noise for every channel of every input bus (bus, channel, frame), in the middle of it a pause. Optional buses are left
  /// empty without `withOptional`.
  public func noise(frames: Int, amplitude: Float = 0.5, withOptional: Bool = true) -> [[[Float]]] {
    testedInputs.enumerated().map { index, bus in
      if bus.isOptional && !withOptional { return [] }
      return (0..<bus.channelCount).map { channel in
        var noise = Signals.noise(frames: frames, amplitude: amplitude, seed: UInt64(1 + index * 32 + channel))
        for i in frames / 2..<max(frames / 2, frames * 5 / 8) { noise[i] = 0 }
        return noise
      }
    }
  }

  /// Zeros for every channel of every input bus.
  public func silence(frames: Int) -> [[[Float]]] {
    testedInputs.map { [[Float]](repeating: [Float](repeating: 0, count: frames), count: $0.channelCount) }
  }
}
