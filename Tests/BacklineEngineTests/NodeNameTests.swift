import BacklineDSP
import BacklineEngine
import Testing

@Suite("Node names")
struct NodeNameTests {
  @Test(
    "names of any script pass",
    arguments: ["a", "eq-1", "Gitarre_ü", "録音", "x.y", "🎸", "👨\u{200D}👩", "می\u{200C}خواهم"])
  func good(name: String) throws { try NodeName.check(name) }

  @Test(
    "reserved letters, words, control characters and lengths are refused",
    arguments: [
      "", "a b", "a:b", "a#", "a*", "a,b", "a/b", "a?", "a[", "a]", "a{", "a}", "a\u{7}", "a\u{85}",
      "a\u{202E}b", "a\u{200F}", "a\u{2066}b", "a\u{2028}b", "input", "output",
      String(repeating: "ü", count: 33),
    ])
  func bad(name: String) {
    do {
      try NodeName.check(name)
      Issue.record("\(name) passed")
    } catch {
      #expect(error.code == .invalidName)
    }
  }

  @Test("64 bytes are allowed")
  func longest() throws { try NodeName.check(String(repeating: "ü", count: 32)) }
}

@Suite("Parameter lookup")
struct ParameterLookupTests {
  let mixer = UnitDescription(
    kind: "mixer", title: "", summary: "", inputs: [.init("input")], outputs: [.init("output")],
    parameters: [.init("outputVolume", "", 0...1, default: 1)], growingInputs: 12,
    inputParameters: [.init("Volume", "", 0...1, default: 1), .init("Pan", "", -1...1, default: 0)],
    make: { UnitInstance(Gain.self, $0) })

  @Test("names of growing inputs map to indices and back")
  func growing() {
    #expect(mixer.parameterIndex(named: "outputVolume") == 0)
    #expect(mixer.parameterIndex(named: "input0Volume") == 1)
    #expect(mixer.parameterIndex(named: "input11Pan") == 1 + 11 * 2 + 1)
    for index in 0..<25 {
      let name = mixer.parameter(at: index)?.name
      #expect(name.flatMap(mixer.parameterIndex(named:)) == index)
    }
    #expect(mixer.parameter(at: 25) == nil)
    #expect(mixer.parameter(at: -1) == nil)
  }

  @Test(
    "other names are not found",
    arguments: [
      "input12Volume", "input01Volume", "inputVolume", "input0volume", "input", "input99999999999999999999Pan",
    ])
  func unknown(name: String) { #expect(mixer.parameterIndex(named: name) == nil) }

  @Test("the nearest name may be a numbered one")
  func nearest() {
    #expect(mixer.nearestParameterName("input7Volum") == "input7Volume")
    #expect(mixer.nearestParameterName("outputVolum") == "outputVolume")
  }
}
