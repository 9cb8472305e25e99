import BacklineEngine
import Synchronization

/// Rendering by the caller in place of a sound server.
extension AudioEngine {
  /// The most frames of one request that may be asked for.
  public static let longestManualRequest = 32_768

  /// Takes the engine off its sound server: from the next start on, frames are rendered when they are asked for, `format` in
  /// rate and channels, at most `maximumFrameCount` (1 to 32 768) at a time. The graph runs at that rate. Only while the engine is
  /// stopped.
  public func enableManualRendering(
    _ mode: ManualRenderingMode, format: AudioFormat, maximumFrameCount: Int
  ) throws(AudioError) {
    try checkStopped("manual rendering can be enabled")
    try format.check()
    guard (1...Self.longestManualRequest).contains(maximumFrameCount) else {
      throw AudioError(
        .outOfRange, "a request has 1 to \(Self.longestManualRequest) frames at most, not \(maximumFrameCount)")
    }
    if mode == .realtime && !format.isStandard {
      throw AudioError(
        .invalidFormat, "\(format) cannot be rendered in real time: the standard form of samples is needed",
        formats: [format])
    }
    try control { engine throws(AudioError) in
      do throws(EngineError) {
        try engine.changeRate(to: format.sampleRate)
      } catch {
        throw AudioError(error)
      }
      graph.followRate(format.sampleRate)
      life.sampleRate.store(format.sampleRate.bitPattern, ordering: .relaxed)
      try layPorts(input: nil, output: format.channelCount, engine)
      manual.withLock { manual in
        manual.mode = mode
        manual.format = format
        manual.maximumFrameCount = maximumFrameCount
        manual.host = OfflineHost(sampleRate: Int(format.sampleRate), period: maximumFrameCount)
        manual.seenChanges = -1
      }
    }
  }

  /// Gives the engine back to its sound server. Only while it is stopped.
  public func disableManualRendering() throws(AudioError) {
    try checkStopped("manual rendering can be disabled")
    let channels = configuration.inputChannelCount
    let hasInput = ends.withLock { $0.input != nil }
    try control { engine throws(AudioError) in
      manual.withLock { $0 = ManualRendering() }
      try layPorts(input: hasInput ? channels : nil, output: configuration.outputChannelCount, engine)
    }
  }

  private func checkStopped(_ what: String) throws(AudioError) {
    switch life.state {
    case .stopped, .prepared, .unavailable: return
    default: throw AudioError(.running, "\(what) only while the engine is stopped: stop it first")
    }
  }

  /// The present mode; `nil` while the engine belongs to its sound server.
  public var manualRenderingMode: ManualRenderingMode? { manual.withLock { $0.mode } }
  /// The format of manual rendering.
  public var manualRenderingFormat: AudioFormat { manual.withLock { $0.format } }
  /// The most frames of one request; 0 while manual rendering is off.
  public var manualRenderingMaximumFrameCount: Int { manual.withLock { $0.maximumFrameCount } }
  /// The frames rendered since manual rendering was enabled.
  public var manualRenderingSampleTime: Int64 { manual.withLock { $0.host?.renderedFrames ?? 0 } }

  func setManualInput(
    format: AudioFormat, block: @escaping @Sendable (Int) -> PCMBuffer?
  ) throws(AudioError) {
    try checkStopped("the input of manual rendering can be set")
    guard let mode = manualRenderingMode else {
      throw AudioError(.wrongMode, "an input block is for manual rendering: enable that first")
    }
    let wanted = manualRenderingFormat
    if format.sampleRate != wanted.sampleRate || !format.isStandard {
      throw .mismatch(
        format, AudioFormat(sampleRate: wanted.sampleRate, channelCount: format.channelCount),
        "input comes at the engine's rate, in the standard form")
    }
    try format.check()
    _ = mode
    try control { engine throws(AudioError) in
      manual.withLock { $0.input = ManualRendering.Input(format: format, block: block) }
      try layPorts(input: format.channelCount, output: nil, engine)
    }
  }

  /// Renders `frameCount` frames into a buffer of the manual rendering format. Waits for whatever sound has still to be read.
  ///
  /// Throws where the engine does not run in offline mode, where the buffer has another format or too little room, and where the
  /// file behind a player turns out to be broken. `buffer.frameLength` is what has been rendered, always.
  public func renderOffline(_ frameCount: Int, to buffer: PCMBuffer) throws(AudioError) -> ManualRenderingStatus {
    buffer.frameLength = 0
    let manual = manual.withLock { $0 }
    guard manual.mode == .offline, let host = manual.host else {
      throw AudioError(.wrongMode, "offline rendering is off: enable it before the engine is started")
    }
    guard isRunning else { throw AudioError(.notRunning, "the engine does not run: start it before it renders") }
    if buffer.format != manual.format {
      throw .mismatch(buffer.format, manual.format, "a buffer to render to has the manual rendering format")
    }
    guard (0...manual.maximumFrameCount).contains(frameCount), frameCount <= buffer.frameCapacity else {
      throw AudioError(
        .outOfRange,
        "\(frameCount) frames are too many: a request has \(manual.maximumFrameCount) at most, the buffer room for \(buffer.frameCapacity)"
      )
    }
    publishChanges(manual.seenChanges)
    var input: PCMBuffer?
    if let wanted = manual.input, hasInputConnections {
      guard let given = wanted.block(frameCount), given.frameLength >= frameCount,
        given.format == wanted.format.standard
      else { return .insufficientDataFromInputNode }
      input = given
    }
    // What is read ahead of players is less than a long request.
    let isDirect = buffer.format.isStandard && buffer.floatChannelData != nil
    let planes = isDirect ? buffer : PCMBuffer(format: buffer.format.standard, frameCapacity: max(1, frameCount))
    guard let planes, let data = planes.floatChannelData else {
      throw AudioError(.limitReached, "there is no memory to render \(frameCount) frames")
    }
    var done = 0
    repeat {
      let count = min(Self.sliceFrames, frameCount - done)
      try readAhead()
      let outcome = render(host, input, data, channelCount: buffer.format.channelCount, from: done, count: count)
      if outcome != .success { return outcome }
      buffer.frameLength = done + count
      if !isDirect {
        let channels = (0..<buffer.format.channelCount).map { UnsafePointer(data[$0] + done) }
        buffer.write(at: done, count: count, from: channels)
      }
      done += count
    } while done < frameCount
    return .success
  }

  private static let sliceFrames = 8_192

  /// Reads what players have to play; throws where a source has turned out to be broken.
  private func readAhead() throws(AudioError) {
    try couriers.withLock({ $0.reader })?.fillSynchronously()
    for schedule in schedules {
      if let failure = schedule.takeFailure() { throw failure }
    }
  }

  /// Has the kernel take what was changed since the last request.
  private func publishChanges(_ seen: Int) {
    let changes = life.changes.load(ordering: .relaxed)
    if changes == seen { return }
    engine.wait { $0.flush() }
    manual.withLock { $0.seenChanges = changes }
  }

  private var hasInputConnections: Bool {
    guard let input = ends.withLock({ $0.input }) else { return false }
    return engine.wait { _ in !graph.connections(from: graph.bus(input, 0)).isEmpty }
  }

  private func render(
    _ host: OfflineHost, _ input: PCMBuffer?, _ outputs: UnsafePointer<UnsafeMutablePointer<Float>>, channelCount: Int,
    from start: Int, count: Int
  ) -> ManualRenderingStatus {
    let inputs = (0..<(input?.format.channelCount ?? 0)).compactMap { channel in
      input?.floatChannelData.map { UnsafePointer($0[channel] + start) }
    }
    let moved = (0..<channelCount).map { outputs[$0] + start }
    let outcome = inputs.withUnsafeBufferPointer { inputs in
      moved.withUnsafeBufferPointer { moved in
        host.render(
          inputs.baseAddress, inputCount: inputs.count, moved.baseAddress, outputCount: channelCount, frameCount: count)
      }
    }
    return outcome == .rendered ? .success : .cannotDoInCurrentContext
  }

  /// What renders in real-time mode; asked for once, after manual rendering has been enabled.
  public func manualRenderer() throws(AudioError) -> ManualRenderer {
    let manual = manual.withLock { $0 }
    guard manual.mode == .realtime, let host = manual.host else {
      throw AudioError(.wrongMode, "real-time manual rendering is off: enable it first")
    }
    return ManualRenderer(
      host: host, channelCount: manual.format.channelCount, maximumFrameCount: manual.maximumFrameCount,
      input: manual.input)
  }
}

/// Renders an engine in real-time mode: neither waits nor allocates nor locks. One thread at a time.
public struct ManualRenderer: Sendable {
  private let host: OfflineHost
  /// The channels that are rendered.
  public let channelCount: Int
  /// The most frames of one request.
  public let maximumFrameCount: Int
  private let input: ManualRendering.Input?

  init(host: OfflineHost, channelCount: Int, maximumFrameCount: Int, input: ManualRendering.Input?) {
    self.host = host
    self.channelCount = channelCount
    self.maximumFrameCount = maximumFrameCount
    self.input = input
  }

  /// Renders `frameCount` frames to `channelCount` channels. Nothing is written unless the status is success.
  public func render(
    _ frameCount: Int, to channels: UnsafePointer<UnsafeMutablePointer<Float>>
  ) -> ManualRenderingStatus {
    if frameCount < 0 || frameCount > maximumFrameCount { return .error }
    var given: PCMBuffer?
    if let input {
      given = input.block(frameCount)
      guard let given, given.frameLength >= frameCount, given.format == input.format else {
        return .insufficientDataFromInputNode
      }
    }
    let inputCount = given?.format.channelCount ?? 0
    let inputs = given?.floatChannelData.map { UnsafeRawPointer($0).assumingMemoryBound(to: UnsafePointer<Float>.self) }
    let outcome = host.render(
      inputs, inputCount: inputCount, channels, outputCount: channelCount, frameCount: frameCount)
    return outcome == .rendered ? .success : .cannotDoInCurrentContext
  }
}
