import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Nearest name")
struct NearestNameTests {
  let names = ["threshold", "ratio", "kneeWidth", "attackTime"]

  @Test(
    "a slip of one or two letters finds the name",
    arguments: [("treshold", "threshold"), ("raito", "ratio"), ("Ratio", "ratio"), ("kneewith", "kneeWidth")])
  func near(slip: String, meant: String) { #expect(nearestName(slip, in: names) == meant) }

  @Test("what is not close finds nothing", arguments: ["", "volume", "ra", "thresholdOfPain"])
  func far(name: String) { #expect(nearestName(name, in: names) == nil) }

  @Test("the closest of several wins")
  func closest() { #expect(nearestName("band3Gan", in: ["band1Gain", "band3Gain"]) == "band3Gain") }

  @Test("two edits anywhere in a name of any length are found, three never")
  func edits() {
    var generator = SeededGenerator(3)
    for length in 6...80 {
      for _ in 0..<20 {
        let name = (0..<length).map { _ in "abcdef".randomElement(using: &generator) ?? "a" }
        var slip = name
        // One edit in each half, the later half first, so that no letter is edited twice.
        for half in [length / 2..<(length - 1), 0..<(length / 2 - 1)] {
          let at = Int.random(in: half, using: &generator)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: slip.insert("z", at: at)
          case 1: slip.remove(at: at)
          case 2: slip[at] = "y"
          default: slip.swapAt(at, at + 1)
          }
        }
        #expect(nearestName(String(slip), in: [String(name)]) == String(name))
        #expect(nearestName("123" + String(name), in: [String(name)]) == nil)
      }
    }
  }
}
