import BacklineDSP
import BacklineEngine
import BacklinePresets

/// Presets that the command line names.
enum PresetLoading {
  /// A preset by its path or name; a bad one's first problem is told with its place.
  static func load(_ place: String) throws(CommandError) -> Preset {
    do throws(EngineError) {
      return try PresetLibrary(roots: nil).load(place, catalog: .standard)
    } catch {
      throw CommandError(exitCode(error.code), error.message)
    }
  }

  static func exitCode(_ code: EngineError.Code) -> ExitCode {
    switch code {
    case .notFound: .inputMissing
    case .ioError: .inputOutput
    default: .badData
    }
  }
}
