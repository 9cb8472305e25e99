import BacklineMedia

/// The options of recordings that several commands have.
enum RecordOptions {
  /// What holds for all recordings of a rack.
  static func settings(_ arguments: ParsedArguments) -> RecordingSettings {
    var settings = RecordingSettings()
    settings.preRoll = Double(arguments.integer(.preRoll) ?? 0)
    settings.keepsEvents = arguments.contains(.recordEvents)
    settings.splitSeconds = arguments.integer(.splitTime).map(Double.init)
    settings.splitBytes = arguments.integer(.splitSize).map { Int64($0) << 20 }
    return settings
  }

  /// Seconds of an option, more than none.
  static func seconds(_ text: String?, of option: OptionDeclaration) throws(CommandError) -> Double? {
    guard let text else { return nil }
    guard let seconds = Double(text), seconds.isFinite, seconds > 0, seconds <= 1e7 else {
      throw .usage("\(option.name): '\(text)' is no number of seconds above 0 and up to 10000000")
    }
    return seconds
  }
}
