import CSndFile

/// Metadata as libsndfile reads and writes it.
extension SoundFileMetadata {
  private static let textKinds: [(Int, String)] = [
    (SF_STR_TITLE, "title"), (SF_STR_COPYRIGHT, "copyright"), (SF_STR_SOFTWARE, "software"), (SF_STR_ARTIST, "artist"),
    (SF_STR_COMMENT, "comment"), (SF_STR_DATE, "date"), (SF_STR_ALBUM, "album"), (SF_STR_LICENSE, "license"),
    (SF_STR_TRACKNUMBER, "trackNumber"), (SF_STR_GENRE, "genre"),
  ]
  /// The most that is carried over of one chunk, and the most markers.
  private static let chunkLimit = 1 << 20
  private static let markerLimit = 10_000
  private static let broadcastSize = 20_000
  /// Chunks of other programs that stay right when the sound changes.
  private static let carried: Set<String> = ["iXML", "axml", "_PMX", "cart"]
  /// Chunks that are part of the format, or are read here as what they mean.
  private static let understood: Set<String> = [
    "RIFF", "RF64", "riff", "fmt ", "data", "fact", "PEAK", "LIST", "bext", "cue ", "JUNK", "junk", "ds64", "PAD ",
    "FLLR", "levl",
    "FORM", "COMM", "SSND", "FVER", "NAME", "AUTH", "ANNO", "(c) ", "MARK", "CHAN", "APPL", "caff", "desc", "free",
    "strg",
    "chan", "pakt", "kuki", "info", "peak", "LABL", "labl", "mark", "ID3 ", "id3 ", "summ",
  ]

  // MARK: Reading

  /// What an open file has.
  init(_ file: OpaquePointer) {
    for (kind, name) in Self.textKinds {
      if let text = sf_get_string(file, Int32(kind)), text.pointee != 0 {
        texts.append(Text(kind: Int32(kind), name: name, text: String(cString: text)))
      }
    }
    readBroadcast(file)
    readMarkers(file)
    readChunks(file)
  }

  private mutating func readBroadcast(_ file: OpaquePointer) {
    var bytes = [UInt8](repeating: 0, count: Self.broadcastSize)
    if sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &bytes, Int32(bytes.count)) == SF_TRUE { broadcast = bytes }
  }

  private mutating func readMarkers(_ file: OpaquePointer) {
    var count: UInt32 = 0
    sf_command(file, Int32(SFC_GET_CUE_COUNT), &count, Int32(MemoryLayout<UInt32>.size))
    guard count > 0, Int(count) <= Self.markerLimit else {
      if count > 0 { unknown.append("markers") }
      return
    }
    Self.withCues(Int(count)) { cues, size in
      if sf_command(file, Int32(SFC_GET_CUE), cues, Int32(size)) != SF_TRUE { return }
      let points = Self.points(cues)
      for index in 0..<min(Int(count), Int(cues.load(as: UInt32.self))) {
        let name = withUnsafeBytes(of: points[index].name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        markers.append(Marker(frame: Int64(points[index].sample_offset), name: name))
      }
    }
  }

  private mutating func readChunks(_ file: OpaquePointer) {
    var iterator = sf_get_chunk_iterator(file, nil)
    while let current = iterator {
      var info = SF_CHUNK_INFO()
      guard sf_get_chunk_size(current, &info) == SF_ERR_NO_ERROR else { break }
      var data = [UInt8](repeating: 0, count: min(Int(info.datalen), Self.chunkLimit))
      let code = data.withUnsafeMutableBytes { bytes -> Int32 in
        info.data = bytes.baseAddress
        info.datalen = UInt32(bytes.count)
        return bytes.isEmpty ? 0 : sf_get_chunk_data(current, &info)
      }
      let name = withUnsafeBytes(of: info.id) { String(decoding: $0.prefix(4), as: UTF8.self) }
      if code == 0 && Self.carried.contains(name) && !data.isEmpty {
        chunks.append(Chunk(name: name, bytes: data))
      } else if !Self.understood.contains(name) && name.utf8.allSatisfy({ $0 >= 0x20 }) {
        unknown.append(name)
      }
      iterator = sf_next_chunk_iterator(current)
    }
  }

  // MARK: Writing

  /// Gives everything to a file that nothing has been written to. What it cannot take is found out when it is read back.
  func write(to file: OpaquePointer) {
    for text in texts { sf_set_string(file, text.kind, text.text) }
    if !broadcast.isEmpty {
      var bytes = broadcast
      sf_command(file, Int32(SFC_SET_BROADCAST_INFO), &bytes, Int32(bytes.count))
    }
    writeMarkers(to: file)
    for chunk in chunks {
      var info = SF_CHUNK_INFO()
      withUnsafeMutableBytes(of: &info.id) { $0.copyBytes(from: chunk.name.utf8.prefix(4)) }
      info.id_size = 4
      info.datalen = UInt32(chunk.bytes.count)
      var bytes = chunk.bytes
      bytes.withUnsafeMutableBytes { buffer in
        info.data = buffer.baseAddress
        sf_set_chunk(file, &info)
      }
    }
  }

  private func writeMarkers(to file: OpaquePointer) {
    // A cue counts its frames in 32 bits.
    let written = markers.prefix(Self.markerLimit).filter { (0...Int64(UInt32.max)).contains($0.frame) }
    if written.isEmpty { return }
    Self.withCues(written.count) { cues, size in
      cues.storeBytes(of: UInt32(written.count), as: UInt32.self)
      let points = Self.points(cues)
      for (index, marker) in written.enumerated() {
        points[index].indx = Int32(index + 1)
        points[index].position = UInt32(marker.frame)
        points[index].fcc_chunk = 0x6174_6164  // "data"
        points[index].sample_offset = UInt32(marker.frame)
        withUnsafeMutableBytes(of: &points[index].name) { name in
          name.copyBytes(from: marker.name.utf8.prefix(name.count - 1))
        }
      }
      sf_command(file, Int32(SFC_SET_CUE), cues, Int32(size))
    }
  }

  /// Memory for a list of cues of any length: a count, then the points.
  private static func withCues(_ count: Int, _ body: (UnsafeMutableRawPointer, Int) -> Void) {
    let size = MemoryLayout<UInt32>.size + count * MemoryLayout<SF_CUE_POINT>.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    body(memory, size)
    memory.deallocate()
  }

  private static func points(_ cues: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SF_CUE_POINT> {
    (cues + MemoryLayout<UInt32>.size).assumingMemoryBound(to: SF_CUE_POINT.self)
  }
}
