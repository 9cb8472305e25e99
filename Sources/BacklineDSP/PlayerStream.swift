import CBackline

/// The frames of a source from a position on, in the order in which they are heard: looped where a loop is set.
///
/// The rule of the loop: the frame before its end is followed by its first one. So a position before the end runs into the
/// loop, and one at or behind the end plays on to the end of the file.
struct PlayerStream {
  /// Loops up to this length are kept in memory, so that a tiny one does not read the file thousands of times a second.
  private static let keptFrames: Int64 = 32_768

  /// Nil once the player has gone over to another file.
  var source: (any PlayerSource)?
  let loop: Range<Int64>?
  /// The file position that comes next.
  private(set) var position: Int64
  /// The interleaved frames of a short loop.
  private var kept: [Float] = []

  init(source: any PlayerSource, start: Int64, loop: Range<Int64>?) {
    self.source = source
    self.loop = loop
    position = start
  }

  /// True when the end of the file has been read and nothing is repeated.
  var isAtEnd: Bool { position >= source?.frameCount ?? 0 }

  /// Writes the next `count` frames, fewer only at the end; where the source breaks, what was read before comes first.
  mutating func read(into frames: UnsafeMutablePointer<Float>, count: Int) throws(PlayerSourceFailure) -> Int {
    var done = 0
    while done < count && !isAtEnd {
      let isBeforeEnd = loop.map { position < $0.upperBound } ?? false
      let limit = isBeforeEnd ? loop?.upperBound ?? 0 : source?.frameCount ?? 0
      let wanted = Int(min(Int64(count - done), limit - position))
      let read: Int
      do throws(PlayerSourceFailure) {
        read = try readPiece(into: frames + 2 * done, count: wanted)
      } catch {
        if done > 0 { return done }
        throw error
      }
      done += read
      position += Int64(read)
      if let loop, position == loop.upperBound, isBeforeEnd { position = loop.lowerBound }
      if read < wanted { return done }
    }
    return done
  }

  private mutating func readPiece(
    into frames: UnsafeMutablePointer<Float>, count: Int
  ) throws(PlayerSourceFailure) -> Int {
    guard let source else { return 0 }
    guard let loop, loop.contains(position), loop.upperBound - loop.lowerBound <= Self.keptFrames else {
      return try source.read(at: position, into: frames, count: count)
    }
    let length = Int(loop.upperBound - loop.lowerBound)
    if kept.isEmpty {
      var body = [Float](repeating: 0, count: 2 * length)
      var read = 0
      while read < length {
        let more = try body.withUnsafeMutableBufferPointer { buffer throws(PlayerSourceFailure) in
          guard let base = buffer.baseAddress else { return 0 }
          return try source.read(at: loop.lowerBound + Int64(read), into: base + 2 * read, count: length - read)
        }
        if more == 0 { break }
        read += more
      }
      kept = body
    }
    let from = Int(position - loop.lowerBound)
    kept.withUnsafeBufferPointer { buffer in
      if let base = buffer.baseAddress { backline_copy(frames, base + 2 * from, Int64(2 * count)) }
    }
    return count
  }
}
