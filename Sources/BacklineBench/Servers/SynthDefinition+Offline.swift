/// The definitions of the offline workloads: each reads the file's two channels and writes to the output's.
extension SynthDefinition {
  /// Adds units and knows where they are.
  private struct Chain {
    var units: [Unit] = []

    /// The control that each definition has stands before them.
    mutating func add(
      _ kind: String, _ inputs: [Input], outputs: Int = 1, special: UInt16 = 0
    ) -> Int {
      units.append(Unit(kind: kind, rate: .audio, inputs: inputs, outputCount: outputs, special: special))
      return units.count
    }

    mutating func input() -> (Input, Input) {
      // The inputs' buses come after those of the two outputs.
      let unit = add("In", [.constant(2)], outputs: 2)
      return (.unit(unit), .unit(unit, output: 1))
    }

    mutating func both(_ kind: String, _ sound: (Input, Input), _ rest: [Input], special: UInt16 = 0) -> (Input, Input)
    {
      (
        .unit(add(kind, [sound.0] + rest, special: special)), .unit(add(kind, [sound.1] + rest, special: special))
      )
    }

    mutating func output(_ sound: (Input, Input)) -> [Unit] {
      _ = add("Out", [.constant(0), sound.0, sound.1], outputs: 0)
      return units
    }
  }

  private enum Operator {
    static let add: UInt16 = 0, multiply: UInt16 = 2, maximum: UInt16 = 13, absolute: UInt16 = 5
  }

  private static func made(_ name: String, _ units: [Unit]) -> SynthDefinition {
    SynthDefinition(name: name, controls: [("unused", 0)], units: units)
  }

  /// W1c: a gain of -3 dB.
  static var offlineGain: SynthDefinition {
    var chain = Chain()
    let sound = chain.input()
    return made(
      "w1c", chain.output(chain.both("BinaryOpUGen", sound, [.constant(0.707_945_8)], special: Operator.multiply)))
  }

  /// W1b: eight bands.
  static var offlineBands: SynthDefinition {
    var chain = Chain()
    var sound = chain.input()
    for (index, frequency) in OfflineWorkload.bands.enumerated() {
      sound = chain.both(
        "BPeakEQ", sound, [.constant(frequency), .constant(1 / 1.4), .constant(index % 2 == 0 ? 3 : -3)])
    }
    return made("w1b", chain.output(sound))
  }

  /// W1: gain, four bands, compressor, delay, reverb.
  static var offlineChain: SynthDefinition {
    var chain = Chain()
    var sound = chain.both("BinaryOpUGen", chain.input(), [.constant(0.707_945_8)], special: Operator.multiply)
    sound = chain.both("BLowShelf", sound, [.constant(100), .constant(1), .constant(3)])
    sound = chain.both("BPeakEQ", sound, [.constant(500), .constant(1), .constant(-2)])
    sound = chain.both("BPeakEQ", sound, [.constant(2500), .constant(1 / 1.4), .constant(2)])
    sound = chain.both("BHiShelf", sound, [.constant(8000), .constant(1), .constant(-3)])
    let sizes = chain.both("UnaryOpUGen", sound, [], special: Operator.absolute)
    let loudest = chain.add("BinaryOpUGen", [sizes.0, sizes.1], special: Operator.maximum)
    sound = chain.both(
      "Compander", sound,
      [.unit(loudest), .constant(0.1), .constant(1), .constant(0.25), .constant(0.01), .constant(0.1)])
    // An echo of 0.4 after 0.35 s dies by 60 dB in 2.638 s.
    let echoes = chain.both("CombN", sound, [.constant(0.35), .constant(0.35), .constant(2.638_6)])
    let wet = chain.both("BinaryOpUGen", echoes, [.constant(0.3)], special: Operator.multiply)
    let left = chain.add("BinaryOpUGen", [sound.0, wet.0], special: Operator.add)
    let right = chain.add("BinaryOpUGen", [sound.1, wet.1], special: Operator.add)
    let reverb = chain.add(
      "FreeVerb2", [.unit(left), .unit(right), .constant(0.25), .constant(0.7), .constant(0.5)], outputs: 2)
    return made("w1", chain.output((.unit(reverb), .unit(reverb, output: 1))))
  }
}
