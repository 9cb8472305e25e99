// Plays sound files through a reverb to a JACK server, one after the other: player-reverb FILE...
import Backline
import Glibc

let paths = CommandLine.arguments.dropFirst()
if paths.isEmpty {
  print("usage: player-reverb FILE...")
  exit(64)
}

let engine = try AudioEngine(EngineConfiguration(name: "player-reverb"))
let player = PlayerNode()
do {
  let reverb = try UnitNode("reverb", ["wetDryMix": 35, "decayTime": 2.5, "size": 70])
  try engine.attach(player)
  try engine.attach(reverb)
  try engine.connect(player, to: reverb)
  try engine.connect(reverb, to: engine.mainMixerNode)
  let files = try paths.map { try AudioFile(forReading: $0) }
  try engine.start()
  try player.play()
  for file in files {
    print("\(file.path): \(file.fileFormat.name), \(Double(file.length) / file.fileFormat.sampleRate) s")
    // The files behind it could be scheduled at once, too; like this each is told when it begins.
    let end = try await player.play(file)
    if case .failed(let error) = end { print("player-reverb: \(error)") }
  }
  // The reverb rings out.
  try await Task.sleep(nanoseconds: 3_000_000_000)
  engine.stop()
} catch {
  print("player-reverb: \(error)")
  exit(69)
}
