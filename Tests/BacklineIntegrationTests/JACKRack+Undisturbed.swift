import BacklineTestSupport
import Testing

extension JACKRackTests {
  /// Runs a measurement until it has not been disturbed: neither the server nor the rack was late meanwhile, as a machine that
  /// has other things to do may make them.
  ///
  /// Lateness of the rack's own making shows all the same, since it would disturb every attempt.
  func undisturbed<Result>(
    _ rack: JACKRack, attempts: Int = 8, _ measure: () async throws -> Result
  ) async throws -> Result {
    for _ in 0..<attempts {
      let before = try rack.lateness()
      let result = try await measure()
      if try rack.lateness() == before { return result }
    }
    // A machine that is late whatever we do cannot tell: not a pass, and not a fault of the rack's either.
    try Test.cancel("late cycles in all of \(attempts) attempts: \(try rack.lateness())")
  }

  /// The same with a rack of its own for each attempt.
  func undisturbed<Result>(
    start: () throws -> JACKRack, attempts: Int = 8, _ measure: (JACKRack) async throws -> Result
  ) async throws -> Result {
    var lateness: [Int] = []
    for _ in 0..<attempts {
      let rack = try start()
      let before = try rack.lateness()
      let result = try await measure(rack)
      lateness = try rack.lateness()
      #expect(try rack.quit() == 0)
      if lateness == before { return result }
    }
    throw Disturbed(attempts: attempts, lateness: lateness)
  }
}

/// No attempt at a measurement was free of late cycles.
struct Disturbed: Error {
  let attempts: Int
  /// The rack's own late cycles, and the server's.
  let lateness: [Int]
}
