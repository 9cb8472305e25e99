import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOSC
import BacklineOffline
import BacklinePresets
import Synchronization

/// Plays a list of events while rendering: the same commands in the same words as over OSC.
final class EventScript: OfflineScript, @unchecked Sendable {
  // Why unchecked: used by the thread that renders only, but for what is confined to the control queue.

  private let file: EventFile
  private let commands: ScriptedCommands
  private var next = 0

  init(_ file: EventFile, _ commands: ScriptedCommands) {
    self.file = file
    self.commands = commands
  }

  var nextFrame: Int64? { next < file.groups.count ? file.groups[next].frame : nil }

  var isPlanNext: Bool {
    next < file.groups.count && file.groups[next].messages.allSatisfy { $0.address.hasPrefix("/graph/") }
  }

  func step(_ engine: Engine, at frame: Int64, isNow: Bool) throws(OfflineError) {
    let group = file.groups[next]
    next += 1
    do throws(EngineError) {
      try commands.perform(group.messages, at: isNow ? nil : frame)
    } catch {
      throw OfflineError(OfflineError(error).kind, "\(file.path):\(group.line): \(error.message)")
    }
  }
}

/// An engine's commands without a network: everything that OSC understands, done by whoever calls.
final class ScriptedCommands: @unchecked Sendable {
  // Why unchecked: made once, then used on the control queue only.

  private let engine: Engine
  private let router: CommandRouter
  private let presets: PresetCommands
  private let players: PlayerCommands
  private let convolvers: ConvolverCommands
  /// Of a response that a changed graph wants, the reason why it is not there.
  private let unread = Unread()

  /// `media` reads the players' files, which may lie anywhere that this program may read.
  init(_ engine: Engine, media: MediaService) throws(EngineError) {
    self.engine = engine
    do throws(OSCServerError) {
      router = CommandRouter(
        engine: engine, server: try OSCServer(unconnected: engine.executor), version: VersionCommand.version)
    } catch {
      throw EngineError(.internal, "\(error)")
    }
    let roots = try FileRoots([".", "/"])
    let unread = unread
    convolvers = ConvolverCommands(engine: engine, media: media, roots: roots) { message in
      unread.note(message)
    }
    presets = try PresetCommands(engine: engine, library: PresetLibrary(roots: nil), convolvers: convolvers)
    players = PlayerCommands(engine: engine, media: media, roots: roots)
    let (router, presets, players, convolvers) = (router, presets, players, convolvers)
    try engine.wait { engine throws(EngineError) in
      presets.register(router)
      players.register(router)
      convolvers.register(router)
      engine.observe { event in
        guard case .graphChanged(let change, let name) = event else { return }
        players.follow(change, name, isReplaying: false)
        convolvers.follow(change, name)
      }
    }
  }

  /// Does messages and waits until they have been given to the engine; at `frame` where one is given. Without `flushes` what has
  /// changed in the graph is not published yet.
  func perform(_ messages: [OSCMessage], at frame: Int64?, flushes: Bool = true) throws(EngineError) {
    let done = Semaphore()
    let failure = Mutex<EngineError?>(nil)
    let (engine, router) = (engine, router)
    engine.executor.schedule(after: 0) {
      router.perform(script: messages, at: frame) { error in
        failure.withLock { $0 = error }
        engine.executor.schedule(after: 0) {
          if flushes { engine.here { $0.flush() } }
          done.signal()
        }
      }
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    if let message = unread.first { throw EngineError(.ioError, message) }
  }
}

/// The first thing that could not be read.
private final class Unread: Sendable {
  private let message = Mutex<String?>(nil)

  var first: String? { message.withLock { $0 } }

  func note(_ text: String) { message.withLock { if $0 == nil { $0 = text } } }
}
