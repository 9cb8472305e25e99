import CJACK

/// The JACK library that this process is linked with: JACK's own, or PipeWire's in its place.
public enum JACKLibrary {
  /// Its own words for its version.
  public static var version: String { String(cString: jack_get_version_string()) }

  /// True where it is PipeWire's.
  public static var isPipeWire: Bool { version.contains("PipeWire") }
}
