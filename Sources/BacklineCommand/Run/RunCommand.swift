import BacklineDSP
import BacklineEngine
import BacklinePresets
import CBackline
import Glibc
import Synchronization

/// `backline run [PRESET]`.
enum RunCommand {
  /// A shutdown takes no longer than this (R18), whatever hangs.
  private static let longestShutdown = 1.9

  static func command() -> ProgramCommand {
    ProgramCommand(.run) { arguments, context throws(CommandError) in
      // Blocked before any thread is made, so that all threads leave these signals to the wait below.
      let signals = SignalWait()
      let options = try RackOptions(arguments)
      let preset = try firstPreset(options)
      let announcer = RackAnnouncer(context, json: options.json)
      let outcome = Mutex<(code: ExitCode, message: String?)?>(nil)
      let rack = try Rack(options, announcer: announcer) { code, message in
        outcome.withLock { if $0 == nil { $0 = (code, message) } }
        signals.interrupt()
      }
      try start(rack, preset)
      signals.wait()
      stop(rack)
      rack.finishRecording()
      rack.finishCapture()
      if let (code, message) = outcome.withLock({ $0 }), let message { throw CommandError(code, message) }
      return .done
    }
  }

  private static func firstPreset(
    _ options: RackOptions
  ) throws(CommandError) -> FirstPreset? {
    guard let place = options.preset else { return nil }
    let library = PresetLibrary(roots: options.roots)
    do throws(EngineError) {
      var graph = try PresetLibrary(roots: nil).load(place, catalog: .standard).graph(catalog: .standard)
      let files = try NodeFiles(of: &graph, sampleRate: Engine.initialSampleRate) { file throws(EngineError) in
        try library.existing(file)
      }
      return FirstPreset(name: place, graph: graph, files: files)
    } catch {
      throw CommandError(PresetLoading.exitCode(error.code), error.message)
    }
  }

  /// Runs `start` on the control queue and waits for it.
  private static func start(_ rack: Rack, _ preset: FirstPreset?) throws(CommandError) {
    let done = Semaphore()
    let failure = Mutex<CommandError?>(nil)
    rack.engine.executor.schedule(after: 0) {
      do throws(CommandError) {
        try rack.start(preset)
      } catch {
        failure.withLock { $0 = error }
      }
      done.signal()
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private static func stop(_ rack: Rack) {
    let done = Semaphore()
    rack.engine.executor.schedule(after: 0) { rack.stop { _ in done.signal() } }
    done.wait(seconds: longestShutdown)
  }
}
