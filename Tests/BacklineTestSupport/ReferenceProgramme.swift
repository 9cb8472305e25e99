import BacklineRealtime

/// What presets are played with to compare their levels: plucked strings in E minor with a breathy voice over them.
///
/// Strings after Karplus and Strong ("Digital Synthesis of Plucked-String and Drum Timbres", 1983) from E2 to E5, four a second;
/// the voice is noise below 4 kHz in syllables. Always -20 dBFS RMS, so that a compressor finds what it finds on a stage.
public enum ReferenceProgramme {
  private static let notes: [Double] = [82.41, 164.81, 246.94, 110, 329.63, 196, 440, 123.47, 659.26, 146.83, 98, 392]

  /// One musician's part; parts of other numbers have other notes and noise.
  public static func part(_ number: Int = 0, seconds: Double = 4, sampleRate: Double = 48_000) -> [Float] {
    let frames = Int(seconds * sampleRate), step = Int(sampleRate / 4)
    var generator = SeededGenerator(UInt64(77 + number))
    var samples = [Float](repeating: 0, count: frames)
    var begin = 0, count = 0
    while begin < frames {
      let note = notes[(count + 5 * number) % notes.count]
      pluck(note, &samples, from: begin, sampleRate, &generator)
      begin += step
      count += 1
    }
    var low: Float = 0
    let pole = Float(8000 / sampleRate), syllable = Int(sampleRate * 0.31)
    for i in samples.indices {
      low += pole * (Float.random(in: -1...1, using: &generator) - low)
      let phase = Float(i % syllable) / Float(syllable)
      samples[i] += 0.5 * low * max(0, 1 - 2 * abs(phase - 0.4))
    }
    let scale = 0.1 / Signals.rms(samples)
    for i in samples.indices { samples[i] *= scale }
    return samples
  }

  /// Adds a string that is let ring for a second.
  private static func pluck(
    _ frequency: Double, _ samples: inout [Float], from begin: Int, _ sampleRate: Double,
    _ generator: inout SeededGenerator
  ) {
    let length = Int(sampleRate / frequency)
    var line = (0..<length).map { _ in Float.random(in: -1...1, using: &generator) }
    let end = min(samples.count, begin + Int(sampleRate))
    var place = 0
    for i in begin..<max(begin, end) {
      let next = place + 1 == length ? 0 : place + 1
      let value = line[place]
      samples[i] += value * min(1, Float(end - i) / 480)
      line[place] = 0.498 * (value + line[next])
      place = next
    }
  }
}
