import Backline
import Foundation

/// How what is scheduled begins and goes on.
public struct AVAudioPlayerNodeBufferOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// A set from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Repeats.
  public static let loops = AVAudioPlayerNodeBufferOptions(rawValue: 1)
  /// Takes the place of what was before.
  public static let interrupts = AVAudioPlayerNodeBufferOptions(rawValue: 2)
  /// The same at the end of a loop's pass.
  public static let interruptsAtLoop = AVAudioPlayerNodeBufferOptions(rawValue: 4)
}

/// How far the sound has come when a completion is called.
public enum AVAudioPlayerNodeCompletionCallbackType: Int, Sendable {
  case dataConsumed, dataRendered, dataPlayedBack

  var stage: PlaybackStage {
    switch self {
    case .dataConsumed: .consumed
    case .dataRendered: .rendered
    case .dataPlayedBack: .playedBack
    }
  }
}

/// Plays buffers and files; see `PlayerNode`.
///
/// Methods that do not throw keep an error for the engine's next start to throw; a completion is called in that case, too.
public class AVAudioPlayerNode: AVAudioNode, AVAudioMixing, @unchecked Sendable {
  private let player: PlayerNode

  /// A player; attach it to an engine.
  public init() {
    player = PlayerNode()
    super.init(player)
  }

  // MARK: Buffers

  /// Schedules a buffer after what was scheduled before.
  public func scheduleBuffer(_ buffer: AVAudioPCMBuffer, completionHandler: AVAudioNodeCompletionHandler? = nil) {
    scheduleBuffer(buffer, at: nil, options: [], completionHandler: completionHandler)
  }

  /// Schedules a buffer; the handler is called when it has come so far, or has ended otherwise.
  public func scheduleBuffer(
    _ buffer: AVAudioPCMBuffer, at when: AVAudioTime?, options: AVAudioPlayerNodeBufferOptions = [],
    completionHandler: AVAudioNodeCompletionHandler? = nil
  ) {
    scheduleBuffer(buffer, at: when, options: options, completionCallbackType: .dataConsumed) { _ in
      completionHandler?()
    }
  }

  /// Schedules a buffer; the handler is called when it has come so far, or has ended otherwise.
  public func scheduleBuffer(
    _ buffer: AVAudioPCMBuffer, completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType,
    completionHandler: AVAudioPlayerNodeCompletionHandler? = nil
  ) {
    scheduleBuffer(
      buffer, at: nil, options: [], completionCallbackType: callbackType, completionHandler: completionHandler)
  }

  /// Schedules a buffer; the handler is called when it has come so far, or has ended otherwise.
  public func scheduleBuffer(
    _ buffer: AVAudioPCMBuffer, at when: AVAudioTime?, options: AVAudioPlayerNodeBufferOptions = [],
    completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType,
    completionHandler: AVAudioPlayerNodeCompletionHandler? = nil
  ) {
    keepingError(callbackType, completionHandler) {
      try player.schedule(
        buffer.buffer, at: when?.time, options: PlaybackOptions(rawValue: Int(truncatingIfNeeded: options.rawValue)),
        stage: callbackType.stage
      ) { _ in completionHandler?(callbackType) }
    }
  }

  /// Schedules a buffer and waits until it has been consumed, or has ended otherwise.
  public func scheduleBuffer(
    _ buffer: AVAudioPCMBuffer, at when: AVAudioTime? = nil, options: AVAudioPlayerNodeBufferOptions = []
  ) async {
    _ = await scheduleBuffer(buffer, at: when, options: options, completionCallbackType: .dataConsumed)
  }

  /// Schedules a buffer and waits until it has come so far, or has ended otherwise.
  @discardableResult
  public func scheduleBuffer(
    _ buffer: AVAudioPCMBuffer, at when: AVAudioTime? = nil, options: AVAudioPlayerNodeBufferOptions = [],
    completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType
  ) async -> AVAudioPlayerNodeCompletionCallbackType {
    await withCheckedContinuation { continuation in
      scheduleBuffer(buffer, at: when, options: options, completionCallbackType: callbackType) {
        continuation.resume(returning: $0)
      }
    }
  }

  // MARK: Files

  /// Schedules a file; the handler is called when it has come so far, or has ended otherwise.
  public func scheduleFile(
    _ file: AVAudioFile, at when: AVAudioTime?, completionHandler: AVAudioNodeCompletionHandler? = nil
  ) {
    scheduleFile(file, at: when, completionCallbackType: .dataConsumed) { _ in completionHandler?() }
  }

  /// Schedules a file; the handler is called when it has come so far, or has ended otherwise.
  public func scheduleFile(
    _ file: AVAudioFile, at when: AVAudioTime?,
    completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType,
    completionHandler: AVAudioPlayerNodeCompletionHandler? = nil
  ) {
    keepingError(callbackType, completionHandler) {
      try player.schedule(file.file, at: when?.time, stage: callbackType.stage) { _ in completionHandler?(callbackType)
      }
    }
  }

  /// Schedules a file and waits until it has come so far, or has ended otherwise.
  @discardableResult
  public func scheduleFile(
    _ file: AVAudioFile, at when: AVAudioTime?,
    completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType
  ) async -> AVAudioPlayerNodeCompletionCallbackType {
    await withCheckedContinuation { continuation in
      scheduleFile(file, at: when, completionCallbackType: callbackType) { continuation.resume(returning: $0) }
    }
  }

  /// Schedules frames of a file; the handler is called when they have come so far, or have ended otherwise.
  public func scheduleSegment(
    _ file: AVAudioFile, startingFrame startFrame: AVAudioFramePosition, frameCount numberFrames: AVAudioFrameCount,
    at when: AVAudioTime?, completionHandler: AVAudioNodeCompletionHandler? = nil
  ) {
    scheduleSegment(
      file, startingFrame: startFrame, frameCount: numberFrames, at: when, completionCallbackType: .dataConsumed
    ) { _ in completionHandler?() }
  }

  /// Schedules frames of a file; the handler is called when they have come so far, or have ended otherwise.
  public func scheduleSegment(
    _ file: AVAudioFile, startingFrame startFrame: AVAudioFramePosition, frameCount numberFrames: AVAudioFrameCount,
    at when: AVAudioTime?, completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType,
    completionHandler: AVAudioPlayerNodeCompletionHandler? = nil
  ) {
    keepingError(callbackType, completionHandler) {
      try player.schedule(
        file.file, from: startFrame, frameCount: Int64(numberFrames), at: when?.time, stage: callbackType.stage
      ) { _ in completionHandler?(callbackType) }
    }
  }

  private func keepingError(
    _ callbackType: AVAudioPlayerNodeCompletionCallbackType, _ handler: AVAudioPlayerNodeCompletionHandler?,
    _ body: () throws -> Void
  ) {
    do {
      try body()
    } catch {
      owner?.keep(error)
      handler?(callbackType)
    }
  }

  // MARK: Transport

  /// Begins to play; where that cannot be, the engine's next start throws why.
  public func play() { play(at: nil) }
  /// Begins to play at a time; where that cannot be, the engine's next start throws why.
  public func play(at when: AVAudioTime?) {
    do { try playAudio(at: when) } catch { owner?.keep(error) }
  }

  /// Begins to play; throws where the engine does not run.
  public func playAudio() throws { try playAudio(at: nil) }
  /// Begins to play at a time; throws where that cannot be.
  public func playAudio(at when: AVAudioTime?) throws { try player.play(at: when?.time) }

  /// Holds what plays where it is.
  public func pause() { player.pause() }
  /// Forgets all that was scheduled.
  public func stop() { player.stop() }

  /// Reads ahead what is scheduled.
  public func prepare(withFrameCount frameCount: AVAudioFrameCount) {
    do { try player.prepare() } catch { owner?.keep(error) }
  }

  /// True while the player plays.
  public var isPlaying: Bool { player.isPlaying }

  /// A time of the player's as the engine's.
  public func nodeTime(forPlayerTime playerTime: AVAudioTime) -> AVAudioTime? {
    player.nodeTime(forPlayerTime: playerTime.time).map(AVAudioTime.init)
  }

  /// A time of the engine's as the player's.
  public func playerTime(forNodeTime nodeTime: AVAudioTime) -> AVAudioTime? {
    player.playerTime(forNodeTime: nodeTime.time).map(AVAudioTime.init)
  }
}
