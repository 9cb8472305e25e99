import Testing

@testable import BacklineDSP

@Suite("Ramps that are read at quantum edges")
struct QuantumRampTests {
  @Test("a ramp begun in mid-quantum counts the frames to the next edge")
  func lead() {
    var ramp = QuantumRamp(0)
    ramp.move(to: 100, over: 100, phase: 20)
    #expect(ramp.value == 0)
    ramp.advance()  // 12 frames to the edge and a quantum
    #expect(ramp.value == 44)
    ramp.advance()
    #expect(ramp.value == 76)
    ramp.advance()
    #expect(ramp.value == 100)
    #expect(ramp.isSettled)
  }

  @Test("a ramp begun on an edge has gone one quantum at the quantum's end")
  func edge() {
    var ramp = QuantumRamp(0)
    ramp.move(to: 64, over: 64, phase: 0)
    ramp.advance()
    #expect(ramp.value == 32)
    ramp.settle()
    #expect(ramp.value == 64)
  }
}
