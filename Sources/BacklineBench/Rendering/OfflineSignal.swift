import Glibc

/// The input of the offline workloads: blocks of ten seconds with bursts of noise, a sweep, and something like speech.
///
/// Stereo, 48 000 Hz, 32-bit floats, always the same.
enum OfflineSignal {
  static let sampleRate = 48_000

  /// Writes a WAV file of `seconds`, a multiple of ten.
  static func write(_ path: String, seconds: Int) throws(BenchError) {
    guard let file = fopen(path, "w") else { throw BenchError.system(path, errno) }
    defer { fclose(file) }
    let size = seconds * sampleRate * 8
    var header = Array("RIFF".utf8)
    func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { header += $0 } }
    add(UInt32(36 + size))
    header += "WAVEfmt ".utf8
    add(UInt32(16))
    add(UInt16(3))
    add(UInt16(2))
    add(UInt32(sampleRate))
    add(UInt32(sampleRate * 8))
    add(UInt16(8))
    add(UInt16(32))
    header += "data".utf8
    add(UInt32(size))
    var isWritten = fwrite(header, 1, header.count, file) == header.count
    var random = SplitMix(seed: 20_261_201)
    for index in 0..<seconds / 10 {
      let samples = block(index, &random)
      isWritten = isWritten && fwrite(samples, 4, samples.count, file) == samples.count
    }
    if !isWritten { throw BenchError.system(path, errno) }
  }

  private static func block(_ index: Int, _ random: inout SplitMix) -> [Float] {
    var samples: [Float] = []
    samples.reserveCapacity(20 * sampleRate)
    // 2 s of noise of sigma 0.1, on and off four times a second, left and right apart from each other.
    for frame in 0..<2 * sampleRate {
      let isOn = frame % (sampleRate / 2) < sampleRate / 4
      for _ in 0..<2 { samples.append(isOn ? Float(0.1 * normal(&random)) : 0) }
    }
    // 4 s of a sweep from 20 Hz to 20 kHz, the right side 7 ms later, or backwards in every other block.
    let count = 4 * sampleRate
    let sweep = (0..<count).map { frame -> Float in
      let time = Double(frame) / Double(sampleRate), rate: Double = log(1000)
      return Float(0.4 * sin(2 * .pi * 20 * 4 / rate * (exp(time / 4 * rate) - 1)))
    }
    for frame in 0..<count {
      samples += [sweep[frame], index % 2 == 0 ? sweep[(frame + count - 336) % count] : sweep[count - 1 - frame]]
    }
    // 4 s of a voice: a tone with overtones that rises and falls in syllables, 10 ms later on the right.
    let voice = (0..<count).map { frame -> Float in
      let time = Double(frame) / Double(sampleRate)
      let pitch = 120 + 30 * sin(2 * .pi * 0.7 * time)
      let syllable = max(0, sin(2 * .pi * 2.5 * time))
      let tone = (1...12).reduce(0.0) { $0 + sin(2 * .pi * pitch * Double($1) * time) / Double($1) }
      return Float(0.25 * syllable * syllable * tone)
    }
    for frame in 0..<count { samples += [voice[frame], voice[(frame + count - 480) % count]] }
    return samples
  }

  /// A number of the normal distribution (Box and Muller 1958).
  private static func normal(_ random: inout SplitMix) -> Double {
    let first = Double.random(in: Double.leastNonzeroMagnitude...1, using: &random)
    let second = Double.random(in: 0..<1, using: &random)
    return (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
  }
}
