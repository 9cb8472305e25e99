import CBackline
import CJACK
import Glibc

/// A private JACK server without a sound card, and a client that watches it.
///
/// It always has the same name, since jackd2 has eight slots for servers and a killed one keeps its slot until one of the
/// same name starts. The watching client has no process callback, so that it is no part of the audio graph.
final class JACKServer {
  static let name = "backline-bench"

  let frames: Int
  let rate = 48_000
  private let child: Child
  private let client: OpaquePointer

  /// Starts a server with a period of `frames` and waits until it takes clients.
  init(frames: Int) throws(BenchError) {
    self.frames = frames
    jack_set_error_function(ignore)
    jack_set_info_function(ignore)
    for attempt in 1...3 {
      let child = try Child(
        ["jackd", "-n", Self.name, "-R", "-P80", "-d", "dummy", "-r", "\(rate)", "-p", "\(frames)"],
        log: "/tmp/\(Self.name)-jackd.log")
      if let client = try Self.connect(to: child) {
        try Interruption.sleep(0.2)
        if !child.isRunning { throw BenchError("a server named \(Self.name) runs already: is this another bench?") }
        self.child = child
        self.client = client
        jack_activate(client)
        return
      }
      child.end()
      if attempt == 3 { throw BenchError("jackd does not start: \(child.lastWords)") }
    }
    throw BenchError("jackd does not start")
  }

  private static func connect(to child: Child) throws(BenchError) -> OpaquePointer? {
    for _ in 0..<100 where child.isRunning {
      try Interruption.sleep(0.05)
      var status = JackStatus(0)
      if let client = backline_jack_open("bench-probe", JackNoStartServer, &status, name) { return client }
    }
    return nil
  }

  deinit {
    jack_client_close(client)
    child.end()
  }

  /// Nanoseconds of a period.
  var period: Double { Double(frames) * 1e9 / Double(rate) }

  /// How many ports there are of a client.
  func portCount(of name: String) -> Int {
    guard let ports = jack_get_ports(client, "^\(name):", nil, 0) else { return 0 }
    defer { jack_free(UnsafeMutableRawPointer(mutating: ports)) }
    var count = 0
    while ports[count] != nil { count += 1 }
    return count
  }

  /// Connects two outputs of a client to two inputs of another, which may take a while to become active.
  func connect(_ source: String, to destination: String) throws(BenchError) {
    let outputs = ports(of: source, JackPortIsOutput), inputs = ports(of: destination, JackPortIsInput)
    guard outputs.count >= 2, inputs.count >= 2 else { throw BenchError("\(destination) has no two inputs") }
    for (output, input) in zip(outputs.prefix(2), inputs) {
      var attempts = 0
      while true {
        let code = jack_connect(client, output, input)
        if code == 0 || code == EEXIST { break }
        attempts += 1
        if attempts == 40 { throw BenchError("\(output) cannot be connected to \(input)") }
        try Interruption.sleep(0.05)
      }
    }
  }

  /// A client's audio ports, in the order in which it has made them.
  private func ports(of name: String, _ direction: JackPortFlags) -> [String] {
    let flags = UInt(direction.rawValue)
    guard let ports = jack_get_ports(client, "^\(name):", JACK_DEFAULT_AUDIO_TYPE, flags) else { return [] }
    defer { jack_free(UnsafeMutableRawPointer(mutating: ports)) }
    var names: [String] = []
    while let port = ports[names.count] { names.append(String(cString: port)) }
    return names
  }

  /// Connects one output to many inputs.
  func connect(_ source: String, toEach destinations: [String]) {
    for destination in destinations { _ = jack_connect(client, source, destination) }
  }

  // MARK: Load

  /// Cycles that a client did not finish in time, and those for which the server's own timer came late, so far.
  var lateCycles: (client: Int, timer: Int) {
    (
      TextFile.count("was not finished", in: child.log), TextFile.count("JackTimedDriver::Process XRun", in: child.log)
    )
  }

  /// What JACK's DSP load was over some time.
  struct Load {
    /// The median, in percent.
    let median: Double
    let late: Int
    /// Late cycles in percent of all.
    let latePart: Double
  }

  /// Watches the load, reading it every 100 ms.
  func load(seconds: Double) throws(BenchError) -> Load {
    let before = lateCycles.client
    let end = backline_now() + Int64(seconds * 1e9)
    var samples: [Double] = []
    repeat {
      try Interruption.sleep(0.1)
      samples.append(Double(jack_cpu_load(client)))
    } while backline_now() < end
    let late = lateCycles.client - before
    return Load(
      median: Statistics.median(samples) ?? 0, late: late, latePart: 100 * Double(late) * period / (seconds * 1e9))
  }
}

/// What the library has to say is in the server's log too.
private func ignore(_ message: UnsafePointer<CChar>?) {}
