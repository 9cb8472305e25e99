import BacklineDSP
import BacklineEngine

/// A boundary between formats: takes sound of any rate and gives it at the engine's, with as many channels as it was made for.
///
/// Without a mixer it is the one place where a rate or a number of channels may change, such as between a player of 44 100 Hz and
/// a unit that is connected at 48 000 Hz. Channels that come go to those that leave by a map, or, without one, by the rule of
/// connections: as many as there are pass as they are, one is heard on both of two, two are halved into one, and more than two go to
/// two as they do in a mixer.
public final class ConverterNode: AudioNode, @unchecked Sendable {
  /// The channels that leave.
  public let channelCount: Int
  /// For each channel that leaves, the one that comes in, from 0, or `nil` for silence; `nil` for the rule of connections.
  public let map: [Int?]?

  /// A converter to so many channels, 1 to 32, by the rule of connections.
  public init(channelCount: Int = 2) throws(AudioError) {
    self.channelCount = channelCount
    map = nil
    super.init()
    try check()
  }

  /// A converter that gives one channel for each entry of `map`.
  public init(map: [Int?]) throws(AudioError) {
    channelCount = map.count
    self.map = map
    super.init()
    try check()
  }

  private func check() throws(AudioError) {
    guard AudioFormat.channelCounts.contains(channelCount) else {
      throw AudioError(.outOfRange, "a converter gives 1 to 32 channels, not \(channelCount)")
    }
    if let wrong = map?.compactMap({ $0 }).first(where: { !(0..<AudioFormat.channelCounts.upperBound).contains($0) }) {
      throw AudioError(.outOfRange, "a converter has no channel \(wrong) to take: they count from 0 to 31")
    }
  }

  public override var inputCount: Int { 1 }
  public override var outputCount: Int { 1 }
  override var kindName: String { "converter" }
  override var convertsRate: Bool { true }

  override func naturalFormat(isInput: Bool, bus: Int, sampleRate: Double) -> AudioFormat {
    AudioFormat(sampleRate: sampleRate, channelCount: channelCount)
  }

  override func realization(kind: String, channelCount: Int) -> NodeRealization? {
    .own(ChannelPassage.description(kind: kind, channelCount: self.channelCount))
  }

  /// The ways from `count` channels that come to those that leave; `nil` where there are none.
  func ways(from count: Int) -> [ChannelPart]? {
    guard let map else { return AudioGraph.ways(from: count, to: channelCount, isSumming: true) }
    if map.contains(where: { $0 ?? 0 >= count }) { return nil }
    return map.enumerated().compactMap { target, source in source.map { ChannelPart($0, target) } }
  }
}
