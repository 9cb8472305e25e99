import BacklineOSC
import BacklineTestSupport
import CBackline
import Glibc
import Testing

@Suite("OSC to a running rack", .serialized)
struct OSCRackTests {
  private static let isLong = getenv("BACKLINE_LONG_TESTS").map { String(cString: $0) } == "1"

  @Test("U-18: floats, integers, doubles and switches of the senders that there are move a running rack")
  func coercion() throws {
    let rack = try RunningRack()
    _ = rack.ask("/graph/add", .string("delay"), .string("echo"))
    for value in [.int32(1), .float(1), .double(1), .int64(1), .true] as [OSCArgument] {
      rack.send("/node/echo/bypass", .false)
      rack.send("/node/echo/bypass", value)
      #expect(rack.drain() == [])
      #expect(rack.values("/node/echo/bypass") == [.int32(1)])
    }
    let refusal = rack.refusal("/node/echo/feedback", .string("0.5"))
    #expect(refusal?.code == "wrongType" && refusal?.sentence.contains("/node/echo/feedback") == true)
  }

  @Test(
    "U-20: blobs around and beyond 32 KiB over TCP come whole or are refused with a limit; the next query is answered",
    arguments: [32_752, 32_753, 65_536, 1_000_000, 1_048_576])
  func blobs(size: Int) throws {
    let rack = try RunningRack()
    let descriptor = RunningRack.socket(SOCK_STREAM, rack.port)
    defer { close(descriptor) }
    let blob = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var stream = try framed(OSCMessage("/ping", .blob(blob)), limit: 2 << 20)
    stream += try framed(OSCMessage("/version"))
    var sent = 0
    while sent < stream.count {
      let count = stream.withUnsafeBytes {
        send(descriptor, $0.baseAddress! + sent, stream.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { break }
      sent += count
    }
    let first = message(descriptor)
    if size < 1_048_576 {
      #expect(first == OSCMessage("/reply", .string("/ping"), .blob(blob)))
    } else {
      guard case .string(let sentence)? = first?.arguments.last else { return }
      #expect(first?.address == "/error" && sentence.contains("1048576"))
    }
    #expect(message(descriptor)?.arguments.first == .string("/version"))
  }

  private func framed(_ message: OSCMessage, limit: Int = 1 << 20) throws -> [UInt8] {
    let packet = try message.encoded(limit: limit)
    return withUnsafeBytes(of: UInt32(packet.count).bigEndian) { Array($0) } + packet
  }

  /// The coming length-prefixed message.
  private func message(_ descriptor: Int32) -> OSCMessage? {
    func read(_ count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      var got = 0
      while got < count {
        let more = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + got, count - got, 0) }
        if more <= 0 { return nil }
        got += more
      }
      return bytes
    }
    guard let header = read(4), let packet = read(header.reduce(0) { $0 << 8 | Int($1) }),
      case .message(let message)? = try? OSCPacket(parsing: packet)
    else { return nil }
    return message
  }

  @Test("U-22: bytes that are no OSC are counted, logged at most once a second, and the audio goes on")
  func garbage() throws {
    let rack = try RunningRack()
    var generator = SeededGenerator(3)
    let start = backline_now()
    let before = rack.integer("frame")
    let valid = try OSCMessage("/node/a/gain", .float(1), .string("é")).encoded()
    for index in 0..<10_000 {
      var bytes = valid
      switch index % 8 {
      case 0: bytes = Array(bytes.prefix(index / 8 % 4))
      case 1: bytes.removeLast(1 + index / 8 % 3)
      case 2: bytes = Array("/abc/def".utf8)
      case 3: bytes = Array("/a\0\0,ffffffff\0\0\0".utf8)
      case 4: bytes = Array("/a\0\0,b\0\0".utf8) + [255, 255, 255, 255]
      case 5: bytes = Array("#bundle\0".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0]
      case 6: bytes = Array("#bundle\0".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
      default: for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 0x91 }
      }
      rack.send(bytes)
      // No faster than the socket's buffer can hold.
      if index % 500 == 499 { _ = rack.drain() }
    }
    rack.wait("malformed packets have to be counted") { rack.integer("malformedPackets") >= 8_000 }
    #expect(rack.values("/ping", .int32(1)) == [.int32(1)])
    rack.wait("the audio has to go on") { rack.integer("frame") > before }
    let seconds = Double(backline_now() - start) * 1e-9
    rack.process.send(SIGTERM)
    let ending = try rack.process.wait()
    #expect(ending.status == 0)
    let lines = ending.errors.split(separator: "\n").filter { $0.contains("refused") }
    #expect(!lines.isEmpty && Double(lines.count) <= seconds + 2)
  }

  @Test("U-25: connections cut in the middle of a frame leave no descriptor behind; a healthy one works on")
  func cuts() throws {
    let rack = try RunningRack()
    let healthy = RunningRack.socket(SOCK_STREAM, rack.port)
    defer { close(healthy) }
    let ping = try framed(OSCMessage("/ping", .int32(5)))
    _ = send(healthy, ping, ping.count, Int32(MSG_NOSIGNAL))
    #expect(message(healthy) == OSCMessage("/reply", .string("/ping"), .int32(5)))
    let descriptors = descriptorCount(rack)
    for index in 0..<(Self.isLong ? 1_000 : 200) {
      let descriptor = RunningRack.socket(SOCK_STREAM, rack.port)
      let part = index % 2 == 0 ? Array(ping.prefix(3 + index % 12)) : [0xC0] + Array(ping.dropFirst(4).prefix(5))
      _ = send(descriptor, part, part.count, Int32(MSG_NOSIGNAL))
      close(descriptor)
      if index % 32 == 31 { rack.wait("the cut ones have to be gone") { rack.integer("tcpClients") == 1 } }
    }
    rack.wait("the cut ones have to be gone") { rack.integer("tcpClients") == 1 }
    rack.wait("their descriptors have to be closed") { descriptorCount(rack) <= descriptors }
    _ = send(healthy, ping, ping.count, Int32(MSG_NOSIGNAL))
    #expect(message(healthy) == OSCMessage("/reply", .string("/ping"), .int32(5)))
  }

  private func descriptorCount(_ rack: RunningRack) -> Int {
    var count = 0
    guard let folder = opendir("/proc/\(rack.process.id)/fd") else { return -1 }
    defer { closedir(folder) }
    while readdir(folder) != nil { count += 1 }
    return count
  }

  @Test("U-31: a taken port ends the start with 69 and a message before audio runs; any port is named for programs")
  func ports() throws {
    let rack = try RunningRack()
    let taken = try ProcessRunner.run(
      BuiltProgram.backline(), ["run", "--host", "timer", "--osc-port", String(rack.port)])
    #expect(taken.status == 69 && taken.output.isEmpty)
    #expect(taken.errors.contains(String(rack.port)))
    let any = try ProcessRunner(BuiltProgram.backline(), ["run", "--host", "timer", "--osc-port", "0", "--json"])
    let line = try #require(try any.readLine())
    #expect(line.contains("\"osc\":") && !line.contains("\"osc\":0"))
    any.send(SIGTERM)
    #expect(try any.wait().status == 0)
    // Freed, the port can be had again.
    let port = rack.port
    #expect(rack.values("/quit") == [])
    #expect(try rack.process.wait().status == 0)
    let again = try ProcessRunner(BuiltProgram.backline(), ["run", "--host", "timer", "--osc-port", String(port)])
    #expect(RunningRack.port(in: try again.readLine()) == port)
    again.send(SIGINT)
    #expect(try again.wait().status == 0)
  }

  @Test("U-32: a flood on one fader delays no other address, and ends at its last value")
  func flood() throws {
    let rack = try RunningRack()
    for name in ["a", "b"] { _ = rack.ask("/graph/add", .string("gain"), .string(name)) }
    let seconds = Self.isLong ? 10 : 2
    let start = backline_now()
    var sent = 0
    var probes = 0
    while backline_now() - start < Int64(seconds) * 1_000_000_000 {
      // What is due at 5000 a second.
      let due = Int((backline_now() - start) / 200_000)
      while sent < due {
        rack.send("/node/a/gain", .float(-Float(sent % 90)))
        sent += 1
      }
      if (backline_now() - start) / 1_000_000_000 >= Int64(probes) {
        probes += 1
        rack.send("/node/b/gain", .float(-Float(probes)))
        #expect(rack.values("/node/b/gain") == [.float(-Float(probes))])
      }
      usleep(1_000)
    }
    rack.send("/node/a/gain", .float(0.25))
    #expect(rack.values("/sync", .int32(9)) == [.int32(9)])
    #expect(rack.values("/node/a/gain") == [.float(0.25)])
    #expect(probes >= seconds && sent > seconds * 2_500)
    #expect(rack.integer("kernelDrops") == 0 && rack.integer("refusedEvents") == 0)
  }

  @Test("/sync is answered by a rack whose audio runs, and by one that was stopped; /engine starts it again")
  func engine() throws {
    let rack = try RunningRack()
    _ = rack.ask("/graph/add", .string("gain"), .string("g"))
    #expect(rack.values("/sync", .int32(1)) == [.int32(1)])
    #expect(rack.values("/engine/state") == [.string("running"), .string("")])
    #expect(rack.values("/engine/stop") == [])
    #expect(rack.values("/engine/state") == [.string("stopped"), .string("")])
    #expect(rack.values("/sync", .int32(2)) == [.int32(2)])
    #expect(rack.values("/engine/start") == [])
    rack.wait("audio has to run again") { rack.values("/engine/state") == [.string("running"), .string("")] }
    #expect(rack.values("/node/g/gain") == [.float(0)])
  }
}
