import CBackline

/// A unit that passes any number of channels on as they are: a place where connections of other channels can meet.
public struct ChannelPassage: RenderUnit, ~Copyable {
  public static let functions = UnitFunctions(
    render: channelPassageRender, set: callbackSet, reset: callbackReset, tail: channelPassageTail)

  /// A unit of so many channels.
  public static func description(kind: String, channelCount: Int) -> UnitDescription {
    UnitDescription(
      kind: kind, title: "Passage", summary: "Passes channels on.",
      inputs: [.init("input", channels: channelCount)], outputs: [.init("output", channels: channelCount)],
      parameters: [], make: { _ in UnitInstance(initializing: ChannelPassage(channelCount: channelCount)) })
  }

  private let channelCount: Int

  private init(channelCount: Int) { self.channelCount = channelCount }

  @_noLocks
  func render(_ block: borrowing RenderBlock) {
    for channel in 0..<channelCount {
      backline_copy(block.output(0, channel), block.input(0, channel), Int64(block.frameCount))
    }
  }
}

@_noLocks
private func channelPassageRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: ChannelPassage.self).pointee.render(block.pointee)
}

@_noLocks
private func channelPassageTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
