import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("The contract of every unit")
struct UnitContractTests {
  static let kinds = UnitCatalog.standard.descriptions.map(\.kind)
  static let rates = [44_100.0, 48_000, 96_000, 192_000]

  private func contract(_ kind: String, _ sampleRate: Double) throws -> UnitContract {
    UnitContract(try #require(UnitCatalog.standard[kind]), sampleRate: sampleRate)
  }

  @Test("a description's names, ranges and defaults fit each other", arguments: kinds)
  func wellFormed(kind: String) throws {
    #expect(try contract(kind, 48_000).wellFormed() == [])
  }

  @Test("the same bits come out however the signal is cut", arguments: kinds, rates)
  func cutInvariance(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).cutInvariance() == [])
  }

  @Test("announced silence changes no bit", arguments: kinds)
  func silenceAnnouncement(kind: String) throws {
    #expect(try contract(kind, 48_000).silenceAnnouncement() == [])
  }

  @Test("a fresh instance equals one whose parameters were all set to their defaults", arguments: kinds, rates)
  func freshHasDefaults(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).freshHasDefaults() == [])
  }

  @Test("a unit that was reset is as good as new", arguments: kinds, rates)
  func resetEqualsFresh(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).resetEqualsFresh() == [])
  }

  @Test("parameters at either end give finite sound", arguments: kinds, rates)
  func extremes(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).extremes() == [])
  }

  @Test("silence comes out of silence, and after the tail", arguments: kinds, rates)
  func silence(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).silence() == [])
  }

  @Test("denormal numbers do no harm", arguments: kinds, rates)
  func denormals(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).denormals() == [])
  }

  @Test("a burst of 1e30 is over after the tail", arguments: kinds, rates)
  func recovery(kind: String, sampleRate: Double) throws {
    #expect(try contract(kind, sampleRate).recovery() == [])
  }
}
