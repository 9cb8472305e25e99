import BacklineOSC
import BacklinePresets

/// The levels of all meters in a rack, gathered from its messages.
struct MeterBoard {
  /// The levels of one meter in dBFS.
  struct Meter: Equatable {
    let name: String
    var peak = SIMD2<Float>(repeating: -96)
    var rms = SIMD2<Float>(repeating: -96)
  }

  /// In the order in which the rack told of them first.
  private(set) var meters: [Meter] = []
  /// True when the graph has changed since: meters may be gone or have other names.
  private(set) var isOutdated = false

  /// The characters of a line that a terminal does not bound.
  private static let widest = 100

  mutating func take(_ message: OSCMessage) {
    if message.address == "/graph/changed" { isOutdated = true }
    let parts = message.address.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0].isEmpty, parts[1] == "node", case .float(let level)? = message.arguments.first
    else { return }
    let side: WritableKeyPath<Meter, Float>
    switch parts[3] {
    case "peakLeft": side = \.peak.x
    case "peakRight": side = \.peak.y
    case "rmsLeft": side = \.rms.x
    case "rmsRight": side = \.rms.y
    default: return
    }
    let name = String(parts[2])
    if let index = meters.firstIndex(where: { $0.name == name }) {
      meters[index][keyPath: side] = level
    } else {
      var meter = Meter(name: name)
      meter[keyPath: side] = level
      meters.append(meter)
    }
  }

  /// Two lines a meter, or one that says what to do where there is none.
  func lines(_ terminal: Terminal) -> [String] {
    if meters.isEmpty {
      return ["no meter is in the rack: 'backline osc /graph/add meter NAME' adds one"]
    }
    let width = min(terminal.columns, Self.widest)
    return meters.flatMap { meter in
      // The side must be seen however long the name is.
      let name = SafeText.line(meter.name).prefix(LevelMeter.nameWidth(width) - 2)
      return [("L", meter.peak.x, meter.rms.x), ("R", meter.peak.y, meter.rms.y)].map { side, peak, rms in
        LevelMeter.line("\(name) \(side)", peakDB: peak, rmsDB: rms, width: width, style: terminal.style)
      }
    }
  }

  var json: JSONOutput {
    let levels = meters.map { meter in
      JSONOutput.object([
        .init("name", .string(meter.name)), .init("peakLeft", .float(meter.peak.x)),
        .init("peakRight", .float(meter.peak.y)), .init("rmsLeft", .float(meter.rms.x)),
        .init("rmsRight", .float(meter.rms.y)),
      ])
    }
    return .object([.init("meters", .array(levels))])
  }
}
