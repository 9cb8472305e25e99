import BacklineDSP

/// The arguments of all commands.
extension ArgumentDeclaration {
  private static let presetSummary = "A preset: a path, or the name of one that comes with Backline or was saved."

  static let optionalPreset = ArgumentDeclaration(
    ValueDeclaration("PRESET", .file), presetSummary + " Without one, the rack starts empty.", isOptional: true)
  static let preset = ArgumentDeclaration(ValueDeclaration("PRESET", .file), presetSummary)
  static let presets = ArgumentDeclaration(ValueDeclaration("PRESET", .file), presetSummary, isRepeatable: true)
  static let inputs = ArgumentDeclaration(
    ValueDeclaration("INPUT", .file),
    "A sound file, a folder of them, or - for a WAV stream on standard input. Several are a batch.", isOptional: true,
    isRepeatable: true)
  static let output = ArgumentDeclaration(
    ValueDeclaration("OUTPUT", .file),
    "The file to write, - for a WAV stream on standard output, or the folder for a batch.")
  static let recording = ArgumentDeclaration(
    ValueDeclaration("OUTPUT", .file),
    "The file to record to, with a channel a port, or a folder with a slash at its end for one file a port.")
  static let recoverable = ArgumentDeclaration(
    ValueDeclaration("FILE|FOLDER", .file), "A recording that was not finished, or a folder with some.",
    isRepeatable: true)
  static let kind = ArgumentDeclaration(
    ValueDeclaration("KIND", .text(), offers: UnitCatalog.standard.descriptions.map(\.kind)),
    "The kind of unit to tell all about.", isOptional: true)
  static let address = ArgumentDeclaration(
    ValueDeclaration("ADDRESS"), "An OSC address, such as /status or /node/delay/time.")
  static let values = ArgumentDeclaration(
    ValueDeclaration("VALUE", .text(maximumBytes: 65_507)), "The values to send.", isOptional: true,
    isRepeatable: true)
  static let shell = ArgumentDeclaration(
    ValueDeclaration("SHELL", .word(["bash", "zsh", "fish"])), "The shell to write for.")
  static let command = ArgumentDeclaration(
    ValueDeclaration("COMMAND", .text()), "The command to tell all about.", isOptional: true)
}
