import BacklineEngine
import CJACK
import Glibc

/// The JACK library that this process is linked with: JACK's own, or PipeWire's in its place.
public enum JACKLibrary {
  /// Its own words for its version.
  public static var version: String { String(cString: jack_get_version_string()) }

  /// True where it is PipeWire's.
  public static var isPipeWire: Bool { version.contains("PipeWire") }

  /// True where the library still maps the signal of a client that has left the server.
  ///
  /// Why: jackd2's library (1.9.21) misses who leaves while it opens a client. Whoever gets that one's number next would never
  /// be started by this process, and stand still with all that hear it. Closing this process's clients has the library forget.
  static func holdsDeparted() -> Bool {
    let before = departed()
    if before.isEmpty { return false }
    // One that is leaving right now is being unmapped.
    usleep(20_000)
    return !before.isDisjoint(with: departed())
  }

  private static func departed() -> Set<Substring> {
    let maps = SystemFile.read("/proc/self/maps") ?? ""
    return Set(maps.split(separator: "\n").filter { $0.contains("/jack_sem.") && $0.hasSuffix("(deleted)") })
  }
}
