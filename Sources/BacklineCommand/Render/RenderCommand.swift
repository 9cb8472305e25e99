import BacklineDSP
import BacklineEngine
import BacklineOffline
import BacklinePresets
import CBackline
import Glibc
import Synchronization

/// `backline render INPUT … OUTPUT`.
enum RenderCommand {
  static func command() -> ProgramCommand {
    ProgramCommand(.render) { arguments, context throws(CommandError) in
      // Blocked before any thread is made, so that all threads leave these signals to the wait below.
      let signals = SignalWait()
      let isToStandardOutput = arguments[.output] == "-"
      let printer = RenderPrinter(
        context, json: arguments.contains(.json), quiet: arguments.contains(.quiet),
        isToStandardOutput: isToStandardOutput)
      do throws(CommandError) {
        let options = try RenderOptions(arguments)
        let tasks = try RenderTask.tasks(options, graph: try graph(options))
        let batch = RenderBatch(tasks, jobs: options.jobs)
        let signal = watch(batch, signals, printer)
        return try printer.finish(batch.results, isBatch: options.isBatch, signal: signal)
      } catch {
        // What was found out before anything began is told in the same form.
        if !arguments.contains(.json) { throw error }
        return try printer.refuse(error)
      }
    }
  }

  /// The preset with its settings.
  private static func graph(_ options: RenderOptions) throws(CommandError) -> GraphDescription? {
    guard let place = options.preset else { return nil }
    var graph = try PresetLoading.load(place).graph(catalog: .standard)
    for setting in options.settings { try setting.apply(to: &graph, catalog: .standard) }
    return graph
  }

  /// Waits for the end of a batch, shows how far it is, and cancels it on a signal, which is returned.
  private static func watch(_ batch: RenderBatch, _ signals: SignalWait, _ printer: RenderPrinter) -> Int32? {
    batch.start { signals.interrupt() }
    var signal: Int32?
    while !batch.isOver {
      if let new = signals.next(within: printer.showsProgress ? 0.1 : 10) {
        // A second one does not wait for a disk that hangs: what is left behind is swept away by the next rendering.
        if signal != nil { break }
        signal = new
        batch.cancel()
      }
      printer.show(batch)
    }
    printer.endProgress()
    return signal
  }
}
