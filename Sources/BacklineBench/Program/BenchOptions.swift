/// What `backline-bench` was asked for.
struct BenchOptions {
  enum Workload: String, CaseIterable {
    case units, w1, w1b, w1c, w2, w3, capacity, w4, w5, w6, w7, taps, players, recording, video, deadline
    case reverbPeers = "reverb-peers"
  }

  static let usage = """
    usage: backline-bench [--workload units,w1,w1b,w1c,w2,w3,capacity,w4,w5,w6,w7,taps,players,
                                      recording,video,deadline,reverb-peers]
                          [--frames 64,16] [--seconds N] [--repeats N]
                          [--peers none|scsynth] [--backline PATH] [--plot FILE] [--json]
      --workload  units every unit by itself, w1, w1b, w1c rendering of files, w2 load by number of nodes,
                  w3 chains on two threads, capacity the most nodes in time,
                  w4 OSC, w5 edits, w6 convolution, w7 start and idle, taps and players of the Swift library,
                  recording 64 tracks to the disk, video the sound of a movie,
                  deadline a rack of twelve units and all that may disturb it,
                  reverb-peers the reverb beside LV2 plug-ins;
                  a bare name, as in `backline-bench units`, does as well
      --frames    JACK's periods for w2, w3, capacity, taps, players, recording and deadline (64,16)
      --seconds   how long each load is watched (2)
      --repeats   how often each case is measured, servers by turns (3)
      --peers     what to measure beside backline in the same run (scsynth where it is installed)
      --backline  the program to measure (the one built beside this)
      --plot      where to draw w2's load by number of nodes, as SVG; periods after the first go to FILE-FRAMES
      --json      the result as JSON
    """

  var workloads = Workload.allCases
  var frames = [64, 16]
  var seconds = 2.0
  var repeats = 3
  var measuresPeers = true
  var backline: String?
  var plot: String?
  var json = false

  /// Reads what follows the program's name; `nil` where help was asked for.
  init?(_ words: [String]) throws(BenchError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      func value() throws(BenchError) -> String {
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
          throw BenchError("\(parts[0]) needs a value\n\(Self.usage)")
        }
        return value
      }
      switch parts[0] {
      case "--help", "-h": return nil
      case "--json": json = true
      case "--backline": backline = try value()
      case "--plot": plot = try value()
      case "--seconds": seconds = try Self.number(try value(), of: "--seconds", Double.init, 0.2...600)
      case "--repeats": repeats = try Self.number(try value(), of: "--repeats", Int.init, 1...100)
      case "--frames":
        let text = try value()
        frames = []
        for item in text.split(separator: ",") {
          frames.append(try Self.number(String(item), of: "--frames", Int.init, 16...8192))
        }
      case "--peers":
        switch try value() {
        case "none": measuresPeers = false
        case "scsynth": measuresPeers = true
        case let other: throw BenchError("--peers is none or scsynth, not '\(other)'")
        }
      case "--workload":
        let text = try value()
        workloads = []
        for item in text.split(separator: ",") {
          guard let workload = Workload(rawValue: String(item)) else {
            throw BenchError("there is no workload '\(item)'\n\(Self.usage)")
          }
          workloads.append(workload)
        }
      case let word where Workload(rawValue: word) != nil:
        if workloads == Workload.allCases { workloads = [] }
        if let workload = Workload(rawValue: word) { workloads.append(workload) }
      default: throw BenchError("unknown argument '\(word)'\n\(Self.usage)")
      }
    }
  }

  private static func number<Value: Comparable>(
    _ text: String, of option: String, _ read: (String) -> Value?, _ range: ClosedRange<Value>
  ) throws(BenchError) -> Value {
    guard let value = read(text), range.contains(value) else {
      throw BenchError("\(option) is \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    }
    return value
  }
}
