import CBackline

/// Waits for conditions, with a limit.
public enum Eventually {
  /// True as soon as `condition` is; false when it was not within `seconds`. Time for which this process was not let run does not
  /// count: on a machine that is busy with others, or while a debugger holds it, nothing can be expected of it.
  public static func holds(within seconds: Double = 10, _ condition: () async throws -> Bool) async rethrows -> Bool {
    var limit = backline_now() + Int64(seconds * 1e9)
    while true {
      if try await condition() { return true }
      let before = backline_now()
      if before > limit { return false }
      try? await Task.sleep(nanoseconds: 2_000_000)
      let slept = backline_now() - before
      if slept > 1_000_000_000 { limit += slept }
    }
  }
}
