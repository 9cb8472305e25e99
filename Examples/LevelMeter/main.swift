// Shows the level of what comes in from a JACK server, by a tap. Ends with Ctrl-C.
import Backline
import Glibc

/// The level of a block's channel in dB, peak and RMS.
@Sendable func levels(_ samples: [Float]) -> (peak: Float, rms: Float) {
  let peak = samples.reduce(0) { max($0, abs($1)) }
  let square = samples.reduce(0) { $0 + $1 * $1 } / Float(max(1, samples.count))
  return (20 * log10(max(peak, 1e-5)), 10 * log10(max(square, 1e-10)))
}

/// A bar from -60 to 0 dB.
@Sendable func bar(_ level: Float) -> String {
  let filled = min(30, max(0, Int((level + 60) / 2)))
  return String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
}

let engine = try AudioEngine(EngineConfiguration(name: "level-meter"))
do {
  // A tap on the input needs no connection: it listens to the bus itself.
  try engine.inputNode.installTap(frameCount: 4_800) { block in
    let text = (0..<block.buffer.format.channelCount).map { channel in
      let level = levels(block.buffer.samples(ofChannel: channel))
      return "\(bar(level.rms)) \(Int(level.peak.rounded())) dB"
    }
    let lost = block.droppedFrames > 0 ? " (\(block.droppedFrames) frames lost)" : ""
    print("\r\(text.joined(separator: "  "))\(lost)   ", terminator: "")
    fflush(nil)
  }
  try engine.start()
} catch {
  print("level-meter: \(error)")
  exit(69)
}
while true { pause() }
