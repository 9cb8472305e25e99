import BacklineDSP
import BacklineEngine
import Synchronization

/// What has been loaded into a player.
public struct LoadedFile: Equatable, Sendable {
  public let path: String
  /// What the file is by itself.
  public let format: SoundFileFormat
  /// The length in frames at the engine's rate.
  public let frameCount: Int64
  /// The length in seconds.
  public var duration: Double { Double(format.frameCount) / Double(format.sampleRate) }
}

/// Opens sound files for players and keeps them read ahead, on two threads of its own: one that opens and one that reads,
/// so that a slow disk holds up neither control nor the players that play already.
///
/// Whether a path may be opened is for the caller to say (R17).
public final class MediaService: Sendable {
  public typealias Completion = @Sendable (Result<LoadedFile, EngineError>) -> Void

  /// What a file is opened for.
  private enum Target {
    case player(PlayerControl)
    case convolver(ConvolverControl)

    var id: ObjectIdentifier {
      switch self {
      case .player(let control): ObjectIdentifier(control)
      case .convolver(let control): ObjectIdentifier(control)
      }
    }
  }

  private struct Opening {
    let path: String
    let target: Target
    let sampleRate: Int
    let ticket: Int
    let completion: Completion
  }

  private struct State {
    var openings: [Opening] = []
    var tickets: [ObjectIdentifier: Int] = [:]
    var lastTicket = 0
    var isEnding = false

    /// Makes all earlier loads into the same unit void.
    mutating func newTicket(_ target: Target) -> Int {
      lastTicket += 1
      tickets[target.id] = lastTicket
      return lastTicket
    }
  }

  private let readAhead: ReadAhead
  private let state = Mutex(State())
  private let threads = Mutex<(reader: WorkerThread, opener: WorkerThread)?>(nil)

  private init(_ readAhead: ReadAhead) { self.readAhead = readAhead }

  /// A service without threads of its own: `load` opens before it returns, and `fillSynchronously` has to be called before
  /// each block. For offline rendering and tests.
  public static func synchronous(
    onFailure: @escaping @Sendable (PlayerControl, EngineError) -> Void
  ) -> MediaService {
    MediaService(ReadAhead(onFailure: onFailure))
  }

  /// A service with running threads, which end with `shutdown()` and with nothing else.
  ///
  /// `onFailure` hears of a file that could not be read to its end, once, on the thread that reads.
  public convenience init(
    onFailure: @escaping @Sendable (PlayerControl, EngineError) -> Void
  ) throws(EngineError) {
    let readAhead = ReadAhead(onFailure: onFailure)
    self.init(readAhead)
    let reader = try WorkerThread("media read") { readAhead.run($0) }
    let opener: WorkerThread
    do throws(EngineError) {
      opener = try WorkerThread("media open") { [weak self] thread in
        while !thread.isEnding {
          guard let self else { return }
          if !self.openNext() { thread.wait(-1) }
        }
      }
    } catch {
      reader.end()
      throw error
    }
    threads.withLock { $0 = (reader, opener) }
  }

  /// Opens the file at `path` and puts it into a player, stopped, at its start. Returns at once.
  ///
  /// `completion` is called exactly once, on the thread that opens. A later load or unload of the same player takes the
  /// place of one that has not been opened yet, which then fails with `busy`.
  public func load(
    _ path: String, into control: PlayerControl, sampleRate: Double, completion: @escaping Completion
  ) {
    load(path, into: .player(control), sampleRate: sampleRate, completion: completion)
  }

  /// Reads the impulse response at `path` and gives it to a convolver, which keeps the one before where that fails. Returns at
  /// once; `completion` is called as that of a player's load.
  public func load(_ path: String, into control: ConvolverControl, completion: @escaping Completion) {
    load(path, into: .convolver(control), sampleRate: control.sampleRate, completion: completion)
  }

  private func load(
    _ path: String, into target: Target, sampleRate: Double, completion: @escaping Completion
  ) {
    guard (8_000...768_000).contains(sampleRate) else {
      completion(.failure(EngineError(.outOfRange, "a rate of \(sampleRate) Hz is not within 8000 to 768000")))
      return
    }
    let isQueued = state.withLock { state in
      if state.isEnding { return false }
      state.openings.append(
        Opening(
          path: path, target: target, sampleRate: Int(sampleRate.rounded()), ticket: state.newTicket(target),
          completion: completion))
      return true
    }
    if !isQueued {
      completion(.failure(EngineError(.unavailable, "the program is ending, \(path) is not opened any more")))
    } else if let opener = threads.withLock({ $0?.opener }) {
      opener.wake()
    } else {
      while openNext() {}
    }
  }

  /// Takes the file out of a player and closes it.
  public func unload(_ control: PlayerControl) {
    state.withLock { $0.tickets[ObjectIdentifier(control)] = nil }
    control.detach()
    readAhead.remove(control)
    wakeReader()
  }

  /// Takes the impulse response out of a convolver: its input passes.
  public func unload(_ control: ConvolverControl) {
    state.withLock { $0.tickets[ObjectIdentifier(control)] = nil }
    control.detach()
  }

  /// Reads all that the players have room for: before each block of an offline rendering.
  public func fillSynchronously() { readAhead.fill() }

  /// Ends the threads and takes out every file. Loads that wait fail.
  public func shutdown() {
    let openings = state.withLock { state in
      state.isEnding = true
      defer { state.openings = [] }
      return state.openings
    }
    for opening in openings {
      opening.completion(.failure(EngineError(.unavailable, "the program is ending, \(opening.path) is not opened")))
    }
    let threads = threads.withLock { threads in
      defer { threads = nil }
      return threads
    }
    threads?.opener.end()
    threads?.reader.end()
    readAhead.removeAll()
  }

  private func wakeReader() {
    threads.withLock { $0?.reader }?.wake()
  }

  /// Opens the file that was asked for first; false where none waits.
  private func openNext() -> Bool {
    let next = state.withLock { $0.openings.isEmpty ? nil : $0.openings.removeFirst() }
    guard let next else { return false }
    next.completion(open(next))
    return true
  }

  private func open(_ opening: Opening) -> Result<LoadedFile, EngineError> {
    guard isWanted(opening) else { return .failure(superseded(opening)) }
    switch opening.target {
    case .player(let control): return open(opening, control)
    case .convolver(let control): return open(opening, control)
    }
  }

  private func open(_ opening: Opening, _ control: ConvolverControl) -> Result<LoadedFile, EngineError> {
    do throws(EngineError) {
      let (response, format) = try ImpulseResponse.load(path: opening.path, sampleRate: opening.sampleRate)
      let isWanted = state.withLock { state in
        guard state.tickets[ObjectIdentifier(control)] == opening.ticket else { return false }
        state.tickets[ObjectIdentifier(control)] = nil
        return true
      }
      guard isWanted else { return .failure(superseded(opening)) }
      do throws(ImpulseResponseError) {
        try control.attach(response)
      } catch {
        throw EngineError(.internal, "\(opening.path): \(error.message)")
      }
      return .success(LoadedFile(path: opening.path, format: format, frameCount: Int64(response.frameCount)))
    } catch {
      return .failure(error)
    }
  }

  private func open(_ opening: Opening, _ control: PlayerControl) -> Result<LoadedFile, EngineError> {
    let source: FilePlayerSource
    do throws(SoundFileError) {
      source = try FilePlayerSource(path: opening.path, sampleRate: opening.sampleRate)
    } catch {
      return .failure(EngineError(error))
    }
    let isAttached = state.withLock { state in
      guard state.tickets[ObjectIdentifier(control)] == opening.ticket, !control.isAbandoned
      else { return false }
      state.tickets[ObjectIdentifier(control)] = nil
      control.attach(source)
      return true
    }
    guard isAttached else { return .failure(superseded(opening)) }
    readAhead.add(control)
    control.onWork { [weak self] in self?.wakeReader() }
    wakeReader()
    return .success(LoadedFile(path: opening.path, format: source.format, frameCount: source.frameCount))
  }

  private func isWanted(_ opening: Opening) -> Bool {
    state.withLock { $0.tickets[opening.target.id] == opening.ticket }
  }

  private func superseded(_ opening: Opening) -> EngineError {
    if case .player(let control) = opening.target, control.isAbandoned {
      return EngineError(.unavailable, "the player of \(opening.path) has been removed")
    }
    return EngineError(.busy, "another file was loaded in the place of \(opening.path) before it was open")
  }
}
