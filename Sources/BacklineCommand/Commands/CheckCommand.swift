import BacklineDSP
import BacklineEngine
import BacklinePresets

/// `backline check PRESET...`.
enum CheckCommand {
  static func command() -> ProgramCommand {
    ProgramCommand(.check) { arguments, context throws(CommandError) in
      var worst = ExitCode.done
      for place in arguments.all(.presets) {
        let path: String
        let bytes: [UInt8]
        do throws(EngineError) {
          path = try PresetLibrary(roots: nil).path(of: place)
          bytes = try PresetFile.read(path)
        } catch {
          try context.errors.write(CommandError(.inputMissing, error.message).line)
          if worst == .done { worst = PresetLoading.exitCode(error.code) }
          continue
        }
        if path.hasSuffix(".schema.json") {
          try context.errors.write("backline: \(path) describes presets and is none: passed over\n")
          continue
        }
        let problems = problems(bytes)
        for line in problems?.lines(file: path) ?? [] { try context.write(line + "\n") }
        if let problems, !problems.problems.isEmpty, worst == .done { worst = .badData }
      }
      return worst
    }
  }

  private static func problems(_ bytes: [UInt8]) -> PresetError? {
    do {
      _ = try PresetReader.read(bytes, catalog: .standard)
      return nil
    } catch {
      return error
    }
  }
}
