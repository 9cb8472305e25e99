import BacklineMedia
import BacklinePresets
import Glibc

/// `backline recover FILE|FOLDER ...`.
enum RecoverCommand {
  static func command() -> ProgramCommand {
    ProgramCommand(.recover) { arguments, context throws(CommandError) in
      let isJSON = arguments.contains(.json)
      var code = ExitCode.done
      var objects: [JSONOutput] = []
      for place in arguments.all(.recoverable) {
        let left = UnfinishedRecording.find(place)
        if left.isEmpty && access(place, F_OK) != 0 {
          throw CommandError(.inputMissing, "there is no '\(place)': name a recording or a folder of them")
        }
        for recording in left {
          let result = recover(recording)
          switch result {
          case .success(let recovered):
            objects.append([
              "file": .string(recovered.path), "frames": .integer(recovered.frames),
              "rate": .integer(Int64(recovered.sampleRate)), "channels": .integer(Int64(recovered.channelCount)),
            ])
            if !isJSON {
              let sound =
                recovered.channelCount == 0
                ? ""
                : ": \(ValueText.fixed(recovered.seconds, 3)) s, \(recovered.frames) frames,"
                  + " \(recovered.channelCount) channels"
              try context.write(recovered.path + sound + "\n")
            }
          case .failure(let error):
            code = .inputOutput
            objects.append(["file": .string(recording.path), "error": .string(error.message)])
            try? context.errors.write("backline: error: \(SafeText.line(error.message))\n")
          }
        }
      }
      if isJSON {
        try context.write(json: ["recovered": .array(objects)])
      } else if objects.isEmpty {
        try context.write("nothing to recover\n")
      }
      return code
    }
  }

  private static func recover(
    _ recording: UnfinishedRecording
  ) -> Result<UnfinishedRecording.Recovered, SoundFileWriteError> {
    do throws(SoundFileWriteError) {
      return .success(try recording.recover())
    } catch {
      return .failure(error)
    }
  }
}
