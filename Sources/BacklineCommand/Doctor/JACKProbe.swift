/// What a JACK server told about itself.
struct JACKServerFacts: Equatable, Sendable {
  var sampleRate: Int
  /// Frames.
  var period: Int
  var isRealtime: Bool
  /// The channels of the sound card that can be recorded and played.
  var captureCount: Int
  var playbackCount: Int
  /// All ports of all clients.
  var portCount: Int
}

/// What came of asking for a JACK server.
enum JACKProbe: Equatable, Sendable {
  case found(JACKServerFacts)
  case noServer
  /// There is one, but it does not let us in.
  case refused(String)
  /// Nothing came back in time.
  case unanswered

  func finding(server: String?) -> DoctorFinding {
    let name = "jackServer"
    let server = server.map { "JACK server '\($0)'" } ?? "JACK server"
    switch self {
    case .found(let facts):
      let delay = ValueText.fixed(Double(facts.period) * 1000 / Double(max(1, facts.sampleRate)), 1)
      let text =
        "\(server): \(facts.sampleRate) Hz, period \(facts.period) frames (\(delay) ms), \(facts.captureCount) inputs and"
        + " \(facts.playbackCount) outputs of the sound card, \(facts.portCount) ports in all"
      if facts.isRealtime { return .ok(name, text) }
      return .warning(
        name, text + "; it runs without real-time scheduling", "start it with real-time rights (jackd -R)")
    case .noServer:
      return .problem(
        name, "no \(server) runs",
        "start one, for example 'jackd -R -d alsa -r 48000 -p 128', or PipeWire's JACK, or run with '--host timer'")
    case .refused(let reason):
      return .problem(name, "the \(server) refuses new clients: \(reason)", "free a client, or restart the server")
    case .unanswered:
      return .problem(
        name, "the \(server) has not answered within 2 s", "restart it: it hangs, or another client holds it up")
    }
  }
}
