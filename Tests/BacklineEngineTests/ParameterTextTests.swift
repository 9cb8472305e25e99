import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

enum SampleParameters {
  static let threshold = ParameterDescription("threshold", "", -60...0, default: -20, measure: .decibels)
  static let frequency = ParameterDescription(
    "frequency", "", 20...20_000, default: 1000, measure: .hertz, taper: .logarithmic)
  static let time = ParameterDescription("time", "", 0...2, default: 0.5, measure: .seconds, taper: .quadratic)
  static let ratio = ParameterDescription("ratio", "", 1...20, default: 4, measure: .ratio)
  static let mix = ParameterDescription("mix", "", 0...0.1, default: 0)
  static let voices = ParameterDescription.count("voices", "", 1...8, default: 2)
  static let type = ParameterDescription.discrete("type", "", ["parametric", "lowPass", "highPass"])
  static let enabled = ParameterDescription.toggle("enabled", "", default: false)
  static let level = ParameterDescription.reading("level", "", -96...0, default: -96, measure: .decibels)
  static let all = [threshold, frequency, time, ratio, mix, voices, type, enabled]
}

@Suite("Parameter text")
struct ParameterTextTests {
  typealias P = SampleParameters

  @Test("values read with their unit of measure")
  func text() {
    #expect(P.threshold.text(for: -18) == "-18.0 dB")
    #expect(P.threshold.text(for: -0.01) == "0.0 dB")
    #expect(P.frequency.text(for: 1234.4) == "1234 Hz")
    #expect(P.frequency.text(for: 62.55) == "62.5 Hz" || P.frequency.text(for: 62.55) == "62.6 Hz")
    #expect(P.time.text(for: 0.0125) == "0.0125 s")
    #expect(P.ratio.text(for: 4) == "4.0:1")
    #expect(P.voices.text(for: 3) == "3")
    #expect(P.type.text(for: 1) == "lowPass")
    #expect(P.type.text(for: .nan) == "parametric")
    #expect(P.type.text(for: 99) == "highPass")
    #expect(P.enabled.text(for: 1) == "on")
    #expect(P.enabled.text(for: 0) == "off")
  }

  @Test("what was written is read back")
  func roundTrip() throws {
    for parameter in P.all {
      for value in [parameter.range.lowerBound, parameter.defaultValue, parameter.range.upperBound] {
        let text = parameter.text(for: value)
        let again = try parameter.value(text: text)
        #expect(abs(again - value) <= 0.051, "\(parameter.name) \(text)")
      }
    }
  }

  @Test("people may leave the unit out, write spaces, names, indices and switches")
  func reading() throws {
    #expect(try P.threshold.value(text: "-18") == -18)
    #expect(try P.threshold.value(text: " -18.5db ") == -18.5)
    #expect(try P.frequency.value(text: "1e3 Hz") == 1000)
    #expect(try P.type.value(text: "highPass") == 2)
    #expect(try P.type.value(text: "1") == 1)
    #expect(try P.enabled.value(text: "ON") == 1)
    #expect(try P.enabled.value(text: "false") == 0)
    #expect(try P.enabled.value(text: "1") == 1)
    #expect(try P.voices.value(text: "8") == 8)
  }

  @Test(
    "what is no number is refused, whatever the C library would take",
    arguments: ["", "nan", "inf", "0x10", "loud", "- 18", "1,5", "1 2"])
  func refusals(text: String) {
    #expect(throws: EngineError.self) { try P.threshold.value(text: text) }
  }
}

@Suite("Parameter input")
struct ParameterInputTests {
  typealias P = SampleParameters

  private func code(_ parameter: ParameterDescription, _ input: ParameterInput) -> EngineError.Code? {
    do {
      _ = try parameter.resolve(input)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("continuous parameters take the nearest Float of any number in range")
  func continuous() throws {
    #expect(try P.threshold.resolve(.int(-18)) == -18)
    #expect(try P.threshold.resolve(.float(-18.25)) == -18.25)
    #expect(try P.mix.resolve(.double(0.1)) == 0.1)  // 0.1 as Float lies above 0.1 as Double
    #expect(code(P.threshold, .double(0.1)) == .outOfRange)
    #expect(code(P.threshold, .int(.min)) == .outOfRange)
    #expect(code(P.threshold, .float(.nan)) == .outOfRange)
    #expect(code(P.threshold, .double(-.infinity)) == .outOfRange)
    #expect(code(P.threshold, .bool(true)) == .wrongType)
    #expect(code(P.threshold, .text("-18")) == .wrongType)
  }

  @Test("counts are exact")
  func counts() throws {
    #expect(try P.voices.resolve(.int(8)) == 8)
    #expect(try P.voices.resolve(.float(3)) == 3)
    #expect(code(P.voices, .double(2.5)) == .wrongType)
    #expect(code(P.voices, .int(9)) == .outOfRange)
    #expect(code(P.voices, .int(.max)) == .outOfRange)
    #expect(code(P.voices, .bool(true)) == .wrongType)
    #expect(code(P.voices, .double(.nan)) == .outOfRange)
  }

  @Test("choices go by exact index or by name")
  func discrete() throws {
    #expect(try P.type.resolve(.text("lowPass")) == 1)
    #expect(try P.type.resolve(.int(2)) == 2)
    #expect(try P.type.resolve(.double(2)) == 2)
    #expect(code(P.type, .float(0.5)) == .wrongType)
    #expect(code(P.type, .int(3)) == .outOfRange)
    #expect(code(P.type, .text("lowpass")) == .outOfRange)
    #expect(code(P.type, .bool(false)) == .wrongType)
    do {
      _ = try P.type.resolve(.text("lowpass"))
    } catch {
      #expect(error.message.contains("did you mean `lowPass`?"))
    }
  }

  @Test("switches take 0, 1, true and false and nothing between")
  func toggles() throws {
    #expect(try P.enabled.resolve(.bool(true)) == 1)
    #expect(try P.enabled.resolve(.int(0)) == 0)
    #expect(try P.enabled.resolve(.float(1)) == 1)
    #expect(code(P.enabled, .float(0.5)) == .wrongType)
    #expect(code(P.enabled, .int(2)) == .outOfRange)
    #expect(code(P.enabled, .text("on")) == .wrongType)
  }

  @Test("what a unit measures cannot be set")
  func readOnly() { #expect(code(P.level, .int(-3)) == .notAllowed) }
}

@Suite("Parameter taper")
struct ParameterTaperTests {
  typealias P = SampleParameters

  @Test("half the travel is the mean, the geometric mean, or a quarter of the range")
  func middle() {
    #expect(P.threshold.denormalized(0.5) == -30)
    #expect(abs(P.frequency.denormalized(0.5) - 632.4555) < 0.001)
    #expect(P.time.denormalized(0.5) == 0.5)
  }

  @Test("both ends are exact, what lies outside or is no number stands at an end")
  func ends() {
    for parameter in P.all {
      #expect(parameter.denormalized(0) == parameter.range.lowerBound)
      #expect(parameter.denormalized(1) == parameter.range.upperBound)
      #expect(parameter.normalized(parameter.range.lowerBound) == 0)
      #expect(parameter.normalized(parameter.range.upperBound) == 1)
      #expect(parameter.denormalized(7) == parameter.range.upperBound)
      #expect(parameter.denormalized(.nan) == parameter.range.lowerBound)
      #expect(parameter.normalized(-1e30) == 0)
    }
  }

  @Test("there and back again is the same value")
  func roundTrip() {
    for parameter in P.all {
      for step in 0...20 {
        let value = parameter.denormalized(Float(step) / 20)
        let again = parameter.denormalized(parameter.normalized(value))
        #expect(abs(again - value) <= 1e-5 * max(1, abs(value)))
      }
    }
  }

  @Test("stepped parameters stay whole")
  func stepped() {
    #expect(P.voices.denormalized(0.5) == 5)  // 1 + 7 * 0.5 = 4.5, rounded away from zero
    #expect(P.type.denormalized(0.4) == 1)
    #expect(P.enabled.denormalized(0.6) == 1)
  }
}
