// A tone of 440 Hz on a JACK server, made by a render callback. Ends with Ctrl-C.
import Backline
import Glibc

let engine = try AudioEngine(EngineConfiguration(name: "tone"))
let tone = SourceNode(state: 0.0) { phase, block in
  for frame in 0..<block.frameCount {
    for channel in 0..<block.channelCount { block[channel][frame] = Float(0.2 * sin(2 * .pi * phase)) }
    phase += 440 / block.sampleRate
    if phase >= 1 { phase -= 1 }
  }
}
do {
  try engine.attach(tone)
  try engine.connect(tone, to: engine.outputNode)
  try engine.start()
} catch {
  print("tone: \(error)")
  exit(69)
}
print("a tone of 440 Hz at \(Int(engine.sampleRate)) Hz; Ctrl-C ends it")
while true { pause() }
