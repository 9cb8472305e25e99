import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklinePresets
import Glibc

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
          let isFolder = isFolder(place)
          let message = isFolder ? "'\(place)' is a folder: name the presets in it" : error.message
          try context.errors.write(CommandError(.inputMissing, message).line)
          if worst == .done { worst = isFolder ? .wrongUsage : PresetLoading.exitCode(error.code) }
          continue
        }
        if path.hasSuffix(".schema.json") {
          try context.errors.write("backline: \(path) describes presets and is none: passed over\n")
          continue
        }
        let problems = problems(
          bytes, in: path[..<(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)])
        for line in problems?.lines(file: path) ?? [] { try context.write(line + "\n") }
        if let problems, !problems.problems.isEmpty, worst == .done { worst = .badData }
      }
      return worst
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// What is wrong with a preset whose files stand in a folder, or relative to it.
  private static func problems(_ bytes: [UInt8], in folder: Substring) -> PresetError? {
    do {
      _ = try PresetReader.read(bytes, catalog: .standard) { file, unit in
        problem(file.hasPrefix("/") ? file : folder + file, unit)
      }
      return nil
    } catch {
      return error
    }
  }

  /// What is wrong with a unit's file.
  private static func problem(_ file: String, _ unit: UnitDescription) -> String? {
    if unit.kind == Convolver.description.kind {
      do throws(EngineError) {
        // Files are brought to the rate of the rack, whatever it is.
        _ = try ImpulseResponse.load(path: file, sampleRate: Int(Engine.initialSampleRate))
        return nil
      } catch {
        return error.message
      }
    }
    do throws(SoundFileError) {
      _ = try SoundFileReader(path: file)
      return nil
    } catch {
      return EngineError(error).message
    }
  }
}
