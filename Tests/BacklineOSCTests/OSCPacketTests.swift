import BacklineTestSupport
import Testing

@testable import BacklineOSC

@Suite("OSC packets")
struct OSCPacketTests {
  @Test("each fault is refused with its own reason and place", arguments: TestPackets.malformed)
  func malformed(_ name: String, _ bytes: [UInt8], _ reason: OSCPacketError) {
    #expect(throws: reason, "\(name)") { try OSCPacket(parsing: bytes) }
    #expect(!reason.description.isEmpty)
  }

  @Test("a packet above the limit is refused with both numbers")
  func tooLong() {
    let bytes = TestPackets.message("/a", "b", TestPackets.bigEndian(96) + [UInt8](repeating: 1, count: 96))
    #expect(throws: OSCPacketError.tooLong(bytes: 108, limit: 104)) { try OSCPacket(parsing: bytes, limit: 104) }
    #expect(throws: Never.self) { try OSCPacket(parsing: bytes, limit: 108) }
  }

  @Test("every type comes through encoding and decoding as it was, each packet a multiple of four bytes")
  func roundTrip() throws {
    let message = OSCMessage(
      "/all",
      .int32(.min), .int64(.max), .float(-0.1), .double(1e300), .string(""), .string("text"), .symbol("symbol"),
      .blob([]), .blob([1]), .blob([1, 2, 3, 4]), .blob([1, 2, 3, 4, 5]), .true, .false, .nil, .impulse,
      .character(65), .timeTag(0x1234_5678_9ABC_DEF0), .midi(0x0190_4064), .int32(7))
    let bytes = try message.encoded()
    #expect(bytes.count % 4 == 0)
    #expect(try OSCPacket(parsing: bytes) == .message(message))
  }

  @Test("the encoder's bytes are those that the specification gives as its example")
  func specificationExample() throws {
    // OSC 1.0, "OSC Message Examples": the float 440.0 to /oscillator/4/frequency.
    let message = OSCMessage("/oscillator/4/frequency", .float(440))
    let expected = TestPackets.padded("/oscillator/4/frequency") + [0x2C, 0x66, 0, 0, 0x43, 0xDC, 0, 0]
    #expect(try message.encoded() == expected)
  }

  @Test(
    "text beyond ASCII is byte-identical after the round trip, whatever its length leaves to pad",
    arguments: ["é", "MAIL 郵", "MAIL 郵政", "🎸", "abc", "abcd", "abcde", ""])
  func text(_ text: String) throws {
    let message = OSCMessage("/node/é/label", .string(text), .string("second \(text)"))
    let bytes = try message.encoded()
    let expected =
      TestPackets.padded("/node/é/label") + TestPackets.padded(",ss") + TestPackets.padded(text)
      + TestPackets.padded("second \(text)")
    #expect(bytes == expected)
    #expect(try OSCPacket(parsing: bytes) == .message(message))
  }

  @Test("a message without type tags is one without arguments")
  func noTypeTags() throws {
    #expect(try OSCPacket(parsing: TestPackets.padded("/status")) == .message(OSCMessage("/status")))
    #expect(try OSCPacket(parsing: TestPackets.message("/status", "")) == .message(OSCMessage("/status")))
  }

  @Test("the view reads the arguments in place as liblo decodes them")
  func view() throws {
    let message = OSCMessage("/a/b", .int32(-5), .string("é"), .blob([1, 2]), .true, .double(0.5), .float(2))
    let bytes = try message.encoded()
    try bytes.withUnsafeBytes { bytes in
      let packet = try OSCPacketView(validating: bytes)
      let view = try #require(packet.messages.first { _ in true })
      #expect(!packet.isBundle)
      #expect(view.addressText == "/a/b" && view.isAddressed(to: "/a/b") && !view.isAddressed(to: "/a"))
      #expect(view.hasAddressPrefix("/a/") && !view.hasAddressPrefix("/a/b/c") && !view.isPattern)
      #expect(view.argumentCount == 6)
      var reader = view.arguments
      guard case .int32(-5)? = reader.next(), case .string(let text)? = reader.next(),
        case .blob(let blob)? = reader.next(), case .true? = reader.next(), case .double(0.5)? = reader.next(),
        case .float(2)? = reader.next()
      else {
        Issue.record("wrong arguments")
        return
      }
      #expect(reader.next() == nil)
      #expect(Array(text) == Array("é".utf8) && Array(blob) == [1, 2])
      #expect(view.message() == message)
    }
  }

  @Test("nested bundles are flattened in order under the outermost time tag")
  func nestedBundles() throws {
    let bytes = TestPackets.bundle(
      0x1_0000_0002,
      [
        TestPackets.message("/1", ""),
        TestPackets.bundle(
          9, [TestPackets.message("/2", ""), TestPackets.bundle(8, []), TestPackets.message("/3", "")]),
        TestPackets.message("/4", ""),
      ])
    let messages = ["/1", "/2", "/3", "/4"].map { OSCMessage($0) }
    let packet = try OSCPacket(parsing: bytes)
    #expect(packet == .bundle(timeTag: 0x1_0000_0002, messages: messages))
    #expect(try OSCPacket(parsing: packet.encoded()) == packet)
    #expect(try OSCPacket(parsing: TestPackets.bundle(1, [])) == .bundle(timeTag: 1, messages: []))
    #expect(throws: Never.self) { try OSCPacket(parsing: TestPackets.nested(8)) }
  }

  @Test("strings and blobs of every length come back as they were sent")
  func lengths() throws {
    for count in Array(0...70) + [1_023, 1_024, 1_025, 1_028, 2_050, 4_100, 65_530] {
      let sent = OSCMessage(
        "/a", .string(String(repeating: "x", count: count)), .blob([UInt8](repeating: 7, count: count)), .int32(5))
      let bytes = try sent.encoded()
      #expect(bytes.count == 4 + 8 + (count + 4) / 4 * 4 + 4 + (count + 3) / 4 * 4 + 4)
      #expect(try OSCPacket(parsing: bytes) == .message(sent))
    }
  }

  @Test("what the wire cannot carry is refused by the encoder")
  func encoding() {
    #expect(throws: OSCEncodingError.invalidAddress("a")) { try OSCMessage("a").encoded() }
    #expect(throws: OSCEncodingError.nulInString) { try OSCMessage("/a\0").encoded() }
    #expect(throws: OSCEncodingError.nulInString) { try OSCMessage("/a", .string("b\0c")).encoded() }
    #expect(throws: OSCEncodingError.notASCII(200)) { try OSCMessage("/a", .character(200)).encoded() }
    let long = OSCMessage("/a", .blob([UInt8](repeating: 0, count: 1 << 20)))
    #expect(throws: OSCEncodingError.tooLong(bytes: (1 << 20) + 12, limit: 1 << 20)) { try long.encoded() }
  }

  @Test("ten thousand mutated packets are taken or refused, and what is taken can be read and encoded again")
  func mutated() throws {
    var generator = SeededGenerator(22)
    var taken = 0
    for _ in 0..<10_000 {
      let bytes = TestPackets.mutation(&generator)
      guard let packet = try? OSCPacket(parsing: bytes) else { continue }
      taken += 1
      if case .bundle(_, let messages) = packet, messages.isEmpty { continue }
      let again = try OSCPacket(parsing: packet.encoded())
      // Values that are no numbers differ from themselves; the bytes do not.
      #expect(try again.encoded() == packet.encoded())
    }
    #expect(taken > 100 && taken < 9_900)
  }

  @Test("answers are told from commands")
  func answers() {
    for address in ["/reply", "/error", "/reply/id", "/error/id"] {
      #expect(Array(address.utf8).withUnsafeBufferPointer { OSCReply.isAnswer($0) })
    }
    for address in ["/replay", "/reply/port", "/errors", "/"] {
      #expect(!Array(address.utf8).withUnsafeBufferPointer { OSCReply.isAnswer($0) })
    }
    #expect(
      OSCReply.reply(to: "/a", id: .int32(3), [.true]) == OSCMessage("/reply/id", .int32(3), .string("/a"), .true))
  }
}
