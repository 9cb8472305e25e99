import CBackline

/// Waits for conditions, with a limit.
public enum Eventually {
  /// True as soon as `condition` is; false when it was not within `seconds`.
  public static func holds(within seconds: Double = 10, _ condition: () async throws -> Bool) async rethrows -> Bool {
    let limit = backline_now() + Int64(seconds * 1e9)
    while true {
      if try await condition() { return true }
      if backline_now() > limit { return false }
      try? await Task.sleep(nanoseconds: 2_000_000)
    }
  }
}
