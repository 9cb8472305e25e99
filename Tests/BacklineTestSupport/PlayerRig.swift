import BacklineDSP

/// A player outside any graph whose source is waited for, as offline.
public final class PlayerRig {
  public let harness: UnitHarness
  public let control: PlayerControl

  public init(sampleRate: Double = 48_000, gain: Float = 0) {
    harness = UnitHarness(Player.description, sampleRate: sampleRate, parameters: ["gain": gain])
    guard let control = harness.instance.control as? PlayerControl else { preconditionFailure("no control") }
    self.control = control
  }

  /// A player with a source.
  public convenience init(_ source: MemoryPlayerSource) {
    self.init()
    control.attach(source)
  }

  /// Renders `frames` frames in blocks of the lengths of `cuts` in turn; both sides.
  public func renderStereo(_ frames: Int, cuts: [Int] = [256], isFilled: Bool = true) -> [[Float]] {
    var result: [[Float]] = [[], []]
    var cut = 0
    while result[0].count < frames {
      var group: [Int] = []
      var length = 0
      while length < 4096 && result[0].count + length < frames {
        group.append(min(cuts[cut % cuts.count], frames - result[0].count - length))
        length += group.last ?? 0
        cut += 1
      }
      if isFilled { control.fillSynchronously() }
      let output = harness.render([], frames: length, cuts: group)
      result[0] += output[0][0]
      result[1] += output[0][1]
    }
    return result
  }

  /// The left side of `renderStereo`.
  public func render(_ frames: Int, cuts: [Int] = [256], isFilled: Bool = true) -> [Float] {
    renderStereo(frames, cuts: cuts, isFilled: isFilled)[0]
  }

  /// The frames of the source that were heard; -1 for silence.
  public func renderFrames(_ frames: Int, cuts: [Int] = [256]) -> [Int64] {
    render(frames, cuts: cuts).map(MemoryPlayerSource.frame)
  }
}
