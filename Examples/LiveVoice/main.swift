// A voice on its way from a JACK server's input to its output: cut below, compressed, warmed, with an echo and a room. Lines of
// standard input change it: the echo's share in percent, or `bypass`. Ends with the input, or Ctrl-C.
import Backline
import Glibc

let engine = try AudioEngine(EngineConfiguration(name: "live-voice", inputChannelCount: 1))
do {
  let chain = [
    try UnitNode(
      "equalizer",
      [
        "band1Type": 2, "band1Frequency": 90, "band1Enabled": 1,  // a high pass against rumble
        "band2Frequency": 3_500, "band2Gain": 3, "band2Enabled": 1,  // presence
      ]),
    try UnitNode("compressor", ["threshold": -24, "ratio": 3]),
    try UnitNode("delay", ["delayTime": 0.28, "feedback": 25, "wetDryMix": 15]),
    try UnitNode("reverb", ["wetDryMix": 18, "decayTime": 1.2]),
  ]
  for unit in chain { try engine.attach(unit) }
  try engine.connect(engine.inputNode, to: chain[0])
  for (unit, next) in zip(chain, chain.dropFirst()) { try engine.connect(unit, to: next) }
  try engine.connect(chain[3], to: engine.mainMixerNode)
  try engine.start()
  print("latency inside: \(engine.latency * 1_000) ms; a number sets the echo, 'bypass' the dry voice")
  while let line = readLine() {
    do {
      if line == "bypass" {
        for unit in chain { unit.isBypassed.toggle() }
      } else if let share = Float(line) {
        try chain[2].set("wetDryMix", to: share, ramp: 0.2)
      }
    } catch {
      print("live-voice: \(error)")
    }
  }
  engine.stop()
} catch {
  print("live-voice: \(error)")
  exit(69)
}
