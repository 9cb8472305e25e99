import BacklineOSC
import BacklineOffline
import BacklinePresets
import Glibc

/// A list of commands with the frames that they belong to: one JSON object a line.
///
/// `{"frame": 12345, "address": "/node/eq/band1Gain", "arguments": [3.0]}`; `seconds` may stand for `frame`, which is the nearest
/// then, halves up. Frames are those of the input, at the rate that the graph runs at. The order of the lines does not matter
/// but for those of one frame.
struct EventFile: Sendable {
  /// What belongs to one frame, in the order of the lines.
  struct Group: Sendable {
    let frame: Int64
    var messages: [OSCMessage]
    /// The first line.
    let line: Int
  }

  private static let sizeLimit = 256 << 20
  /// The latest time in seconds.
  private static let latest = 1e7

  let path: String
  let groups: [Group]

  /// One line.
  struct Event: Sendable {
    let frame: Int64
    let message: OSCMessage
    let line: Int
    /// The order of control, in captures.
    let order: Int
    /// True for what went to the render thread by itself, in captures.
    let isQueued: Bool
  }

  init(path: String, sampleRate: Int) throws(OfflineError) {
    self.path = path
    // Stable, since equal frames keep the order of their lines.
    let sorted = try Self.events(path, sampleRate: sampleRate).sorted { ($0.frame, $0.line) < ($1.frame, $1.line) }
    var groups: [Group] = []
    for event in sorted {
      if groups.last?.frame == event.frame {
        groups[groups.count - 1].messages.append(event.message)
      } else {
        groups.append(Group(frame: event.frame, messages: [event.message], line: event.line))
      }
    }
    self.groups = groups
  }

  /// The events of a file in the order of its lines.
  static func events(_ path: String, sampleRate: Int, isCapture: Bool = false) throws(OfflineError) -> [Event] {
    var events: [Event] = []
    var line = 0
    for bytes in try Self.lines(path) {
      line += 1
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      do throws(EventProblem) {
        events.append(try Self.event(bytes, line, sampleRate, isCapture: isCapture))
      } catch {
        throw OfflineError(.badData, "\(path):\(line): \(error.reason)")
      }
    }
    return events
  }

  // MARK: Lines

  private static func lines(_ path: String) throws(OfflineError) -> [ArraySlice<UInt8>] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw OfflineError(.inputMissing, "the events \(path) cannot be read: \(SystemError.text(errno))")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &part, part.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 {
        throw OfflineError(.inputMissing, "the events \(path) cannot be read: \(SystemError.text(errno))")
      }
      if count == 0 { break }
      bytes += part[..<count]
      if bytes.count > sizeLimit { throw OfflineError(.badData, "the events \(path) are longer than 256 MiB") }
    }
    return bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
  }

  private static func event(
    _ bytes: ArraySlice<UInt8>, _ line: Int, _ sampleRate: Int, isCapture: Bool
  ) throws(EventProblem) -> Event {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader.read(Array(bytes), firstLine: line)
    } catch {
      throw EventProblem("column \(error.column): \(error.message)")
    }
    guard let members = value.object else { throw EventProblem("an event is an object, not \(value.typeName)") }
    let names = ["frame", "seconds", "address", "arguments"] + (isCapture ? ["order", "queued"] : [])
    for member in members where !names.contains(member.name) {
      let near = Suggestion.sentence(for: member.name, among: names)
      throw EventProblem("an event has no '\(member.name)'\(near)")
    }
    guard let address = value["address"]?.string, address.hasPrefix("/") else {
      throw EventProblem("an event needs an address, such as \"/node/eq/band1Gain\"")
    }
    var arguments: [OSCArgument] = []
    if let list = value["arguments"] {
      guard let elements = list.array else { throw EventProblem("'arguments' is a list, not \(list.typeName)") }
      for element in elements { arguments.append(try argument(element)) }
    }
    let order = value["order"]?.integer ?? 0
    if isCapture && (value["order"] == nil || order < 0) { throw EventProblem("an event of a capture needs its order") }
    return Event(
      frame: try frame(value, sampleRate), message: OSCMessage(address, arguments), line: line, order: order,
      isQueued: value["queued"]?.bool ?? false)
  }

  private static func frame(_ value: JSONValue, _ sampleRate: Int) throws(EventProblem) -> Int64 {
    switch (value["frame"], value["seconds"]) {
    case (let frame?, nil):
      guard let number = frame.integer, number >= 0 else { throw EventProblem("'frame' is a whole number from 0 up") }
      return Int64(number)
    case (nil, let seconds?):
      guard let number = seconds.number, (0...latest).contains(number) else {
        throw EventProblem("'seconds' is a number from 0 to 10000000")
      }
      return TailPolicy.frames(number, sampleRate: sampleRate)
    default: throw EventProblem("an event needs either 'frame' or 'seconds'")
    }
  }

  static func argument(_ value: JSONValue) throws(EventProblem) -> OSCArgument {
    switch value.content {
    case .bool(let value): return value ? .true : .false
    case .string(let text): return .string(text)
    case .number(let number):
      if let whole = value.integer { return Int32(exactly: whole).map { .int32($0) } ?? .int64(Int64(whole)) }
      return .double(number)
    default: throw EventProblem("an argument is a number, a text, true or false, not \(value.typeName)")
    }
  }
}

/// What is wrong with one event.
struct EventProblem: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
