import BacklineEngine
import BacklineOSC

/// Says in the log what has gone wrong since the last look: one line a second at most, each kind with its count (R3).
struct RackHealth {
  /// What is counted, in words for one and for many.
  private static let words: [(one: String, many: String)] = [
    ("cycle finished late by us", "cycles finished late by us"), ("xrun of the server", "xruns of the server"),
    ("event taken late", "events taken late"), ("event for a node that was gone", "events for nodes that were gone"),
    ("burst of samples that were not finite", "bursts of samples that were not finite"),
    ("underrun of a player", "underruns of players"),
    ("OSC packet dropped by the kernel", "OSC packets dropped by the kernel"),
    ("reply or event that could not be sent", "replies and events that could not be sent"),
  ]

  private var last = [Int](repeating: 0, count: words.count)

  /// What to say now; `nil` where nothing has happened.
  mutating func look(at engine: isolated Engine, _ server: OSCServer) -> String? {
    let counts = engine.counts
    let late = engine.host?.lateCounts ?? (own: 0, server: 0)
    let statistics = server.statistics
    let now = [
      late.own, late.server, counts.lateEvents, counts.droppedEvents, counts.nonFinite, engine.diskUnderruns,
      statistics.kernelDrops, statistics.unsentMessages,
    ]
    defer { last = now }
    // A count may fall when a node goes or a host begins anew.
    let news = zip(zip(now, last), Self.words).compactMap { counts, words -> String? in
      let more = counts.0 - counts.1
      return more > 0 ? "\(more) \(more == 1 ? words.one : words.many)" : nil
    }
    return news.isEmpty ? nil : "in the last second: " + news.joined(separator: ", ")
  }
}
