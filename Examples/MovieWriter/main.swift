// Writes a movie of a tone, with a text for each second: `example-movie-writer tone.mkv 10`. What a kill leaves of it, as
// tone.mkv.recording, `backline recover` brings back.
import Backline
import Glibc

let words = CommandLine.arguments
guard words.count == 3, let seconds = Int(words[2]), (1...86_400).contains(seconds) else {
  print("usage: example-movie-writer FILE.mkv|FILE.mp4|FILE.mov SECONDS")
  exit(64)
}
let rate = 48_000
let container: MediaWriter.Container =
  words[1].hasSuffix(".mp4") ? .mp4 : words[1].hasSuffix(".mov") ? .mov : .matroska
do {
  let writer = try MediaWriter(path: words[1], container: container)
  writer.fragmentInterval = MediaTime(value: 1, timescale: 2)
  let settings = AudioSettings(container == .mp4 ? .aac : .pcm, sampleRate: rate, channelCount: 1)
  let sound = try writer.receiver(for: MediaWriter.Input(settings))
  let texts = try writer.receiver(for: .metadata)
  try writer.start()
  writer.startSession(at: .zero)
  for second in 0..<seconds {
    let time = MediaTime(value: Int64(second), timescale: 1)
    try await texts.append(MediaSample(text: "second \(second)", at: time, duration: MediaTime(value: 1, timescale: 1)))
    let tone = (0..<rate).map { Float(0.2 * sin(2 * .pi * 440 * Double($0) / Double(rate))) }
    try await sound.append(MediaSample(sound: tone, sampleRate: rate, channelCount: 1, at: time))
    print("\(second + 1) s")
    fflush(nil)
  }
  await writer.finishWriting()
  if let error = writer.error { throw error }
} catch {
  print("example-movie-writer: \(error)")
  exit(74)
}
