import BacklineEngine

/// How an engine is rendered by its caller.
public enum ManualRenderingMode: Sendable, Equatable {
  /// As fast as it goes: sources are waited for, and no sound is left out because a disk was slow.
  case offline
  /// From a real-time thread: nothing waits.
  case realtime
}

/// What became of a request for frames. The buffer's `frameLength` says how many there are in every case.
public enum ManualRenderingStatus: Sendable, Equatable {
  /// All frames were rendered.
  case success
  /// The input block gave nothing; nothing was rendered.
  case insufficientDataFromInputNode
  /// It cannot be done just now: another thread renders, or the engine is being stopped. Trying again is right, a bounded
  /// number of times.
  case cannotDoInCurrentContext
  /// It has failed.
  case error
}

/// What manual rendering keeps.
struct ManualRendering {
  struct Input {
    let format: AudioFormat
    let block: @Sendable (Int) -> PCMBuffer?
  }

  /// `nil` while it is off.
  var mode: ManualRenderingMode?
  var format = AudioFormat(sampleRate: 48_000, channelCount: 2)
  var maximumFrameCount = 0
  var host: OfflineHost?
  var input: Input?
  /// The changes that have been published.
  var seenChanges = -1
}
