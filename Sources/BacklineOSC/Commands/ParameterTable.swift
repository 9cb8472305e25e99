import BacklineDSP
import BacklineEngine

/// From the bytes of a parameter's address straight to the parameter: an open-addressed hash table of our own, so that a flood
/// of sets makes no strings and costs the same however many nodes there are.
struct ParameterTable {
  struct Entry {
    let address: String
    let slot: Int32
    let generation: UInt32
    let index: Int
    let description: ParameterDescription
  }

  private var entries: [Entry] = []
  private var keys: [[UInt8]] = []
  private var hashes: [UInt64] = []
  /// Indices into `entries`; negative where free. Twice as many places as entries at least.
  private var places: [Int32] = Array(repeating: -1, count: 64)
  /// The graph that the entries are of.
  private(set) var version = -1

  /// Forgets everything when the graph is another one.
  mutating func follow(_ version: Int) {
    if version == self.version { return }
    self.version = version
    if entries.isEmpty { return }
    entries.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    hashes.removeAll(keepingCapacity: true)
    for index in places.indices { places[index] = -1 }
  }

  func find(_ address: UnsafeBufferPointer<UInt8>) -> Int? {
    let hash = Self.hash(address)
    var at = Int(truncatingIfNeeded: hash) & (places.count - 1)
    while places[at] >= 0 {
      let entry = Int(places[at])
      if hashes[entry] == hash && equal(keys[entry], address) { return entry }
      at = (at + 1) & (places.count - 1)
    }
    return nil
  }

  subscript(index: Int) -> Entry {
    @inline(__always) _read { yield entries[index] }
  }

  mutating func insert(_ address: UnsafeBufferPointer<UInt8>, _ entry: Entry) -> Int {
    entries.append(entry)
    keys.append(Array(address))
    hashes.append(Self.hash(address))
    if entries.count * 2 > places.count {
      places = Array(repeating: -1, count: places.count * 2)
      for index in entries.indices { place(index) }
    } else {
      place(entries.count - 1)
    }
    return entries.count - 1
  }

  private mutating func place(_ entry: Int) {
    var at = Int(truncatingIfNeeded: hashes[entry]) & (places.count - 1)
    while places[at] >= 0 { at = (at + 1) & (places.count - 1) }
    places[at] = Int32(entry)
  }

  private func equal(_ key: [UInt8], _ address: UnsafeBufferPointer<UInt8>) -> Bool {
    key.count == address.count && key.withUnsafeBufferPointer { $0.elementsEqual(address) }
  }

  /// FNV-1a, mixed once more at the end since the low bits choose the place.
  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash ^ (hash >> 29)
  }
}
