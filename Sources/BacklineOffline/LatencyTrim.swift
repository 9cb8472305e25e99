import CBackline

/// Takes the latency of a graph off its output: frame n of a file is what the graph gives out for frame n of the input.
///
/// Channels that come earlier than the latest wait for it. Where an edit changes a latency in the middle, the output goes over
/// to where the input is found after it, by a crossfade that begins before the change is heard; what comes after is in
/// its place again, and the length stays exact. Used by the thread that renders.
final class LatencyTrim {
  /// Latencies that hold from a frame of the graph on, in frames for each channel.
  struct Change {
    let frame: Int64
    let latencies: [Int]
  }

  /// A way from the latencies before to others, in frames of the file.
  private struct Fade {
    let start: Int64
    let latencies: [Int]
  }

  /// The frames of the graph that are rendered before a frame of the file is complete: the largest latency so far.
  private(set) var lead: Int
  private var latencies: [Int]
  private var fades: [Fade] = []
  private let fadeFrames: Int
  /// The next frame of the file.
  private var next: Int64 = 0
  /// The last `lead` frames of each channel, and behind them the block at hand.
  private var lines: [[Float]]
  private let blockFrames: Int

  /// `latencies` hold from the beginning; blocks have at most `blockFrames` frames; changes are faded over `fadeFrames`.
  init(_ latencies: [Int], blockFrames: Int, fadeFrames: Int) {
    self.latencies = latencies
    self.blockFrames = blockFrames
    self.fadeFrames = max(1, fadeFrames)
    let lead = latencies.max() ?? 0
    self.lead = lead
    lines = latencies.map { _ in Array(repeating: 0, count: lead + blockFrames) }
  }

  /// True where the output is the file as it is.
  private var isIdle: Bool { lead == 0 && fades.isEmpty }

  /// Makes of `count` frames of the graph, the first of them its frame `first`, those frames of the file that are complete
  /// now. `changes` lie within them, in order. Returns how many there are, at the beginning of the block.
  func process(_ block: SampleBlock, _ count: Int, from first: Int64, _ changes: [Change]) -> Int {
    if isIdle && changes.isEmpty {
      next += Int64(count)
      return count
    }
    // The frame of the graph that lines begin with.
    let start = first - Int64(lead)
    for channel in lines.indices {
      lines[channel].withUnsafeMutableBufferPointer { line in
        if let base = line.baseAddress { backline_copy(base + lead, block.channels[channel], Int64(count)) }
      }
    }
    let kept = lead
    for change in changes { note(change) }
    let end = first + Int64(count) - Int64(lead)
    let made = Int(max(0, end - next))
    var index = 0
    while index < made { index += write(next + Int64(index), made - index, to: index, of: block, start) }
    next += Int64(made)
    keep(count, kept)
    return made
  }

  private func note(_ change: Change) {
    let before = fades.last?.latencies ?? latencies
    if change.latencies == before { return }
    let most = max(before.max() ?? 0, change.latencies.max() ?? 0)
    lead = max(lead, most)
    let earliest = max(next, fades.last.map { $0.start + Int64(fadeFrames) } ?? 0)
    fades.append(Fade(start: max(earliest, change.frame - Int64(most)), latencies: change.latencies))
  }

  /// Writes some of the frames of the file from `frame` on, at most `limit`, and returns how many.
  private func write(_ frame: Int64, _ limit: Int, to index: Int, of block: SampleBlock, _ start: Int64) -> Int {
    while let fade = fades.first, frame >= fade.start + Int64(fadeFrames) {
      latencies = fade.latencies
      fades.removeFirst()
    }
    let at = Int(frame - start)
    guard let fade = fades.first, fade.start <= frame else {
      let count = fades.first.map { Int(min(Int64(limit), $0.start - frame)) } ?? limit
      for channel in lines.indices {
        lines[channel].withUnsafeBufferPointer { line in
          if let base = line.baseAddress {
            backline_copy(block.channels[channel] + index, base + at + latencies[channel], Int64(count))
          }
        }
      }
      return count
    }
    let weight = Float(frame - fade.start + 1) / Float(fadeFrames + 1)
    for channel in lines.indices {
      let now = lines[channel][at + latencies[channel]]
      block.channels[channel][index] = now + (lines[channel][at + fade.latencies[channel]] - now) * weight
    }
    return 1
  }

  /// Leaves the last `lead` frames of a block of `count` at the beginning of the lines, where there were `kept`.
  private func keep(_ count: Int, _ kept: Int) {
    for channel in lines.indices {
      if lead == kept {
        lines[channel].withUnsafeMutableBufferPointer { line in
          if let base = line.baseAddress { base.update(from: base + count, count: lead) }
        }
      } else {
        let last = lines[channel][max(0, kept + count - lead)..<kept + count]
        let missing = [Float](repeating: 0, count: lead - last.count)
        lines[channel] = missing + last + [Float](repeating: 0, count: blockFrames)
      }
    }
  }
}
