import BacklineRealtime
import CBackline
import CJACK

/// The ports of a session as the process callback uses them; a change of ports makes a new table.
struct JACKPortTable: ~Copyable {
  /// The most frames that are rendered in one piece; longer cycles are cut.
  static var longestSlice: Int { @_noLocks get { 8_192 } }

  let inputs: Side
  let outputs: Side

  init(_ ports: JACKPorts) {
    inputs = Side(ports.inputs)
    outputs = Side(ports.outputs)
  }

  deinit {
    inputs.deallocate()
    outputs.deallocate()
  }

  /// One direction, with the table of pointers that a slice is rendered from.
  struct Side: BitwiseCopyable {
    let count: Int
    let ports: UnsafeMutablePointer<OpaquePointer>
    let buffers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    let slice: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// Stands in for a port that has no buffer.
    let spare: UnsafeMutablePointer<Float>

    init(_ ports: [OpaquePointer]) {
      count = ports.count
      spare = SampleMemory.allocate(JACKPortTable.longestSlice)
      self.ports = .allocate(capacity: max(1, count))
      buffers = .allocate(capacity: max(1, count))
      slice = .allocate(capacity: max(1, count))
      buffers.initialize(repeating: nil, count: max(1, count))
      slice.initialize(repeating: spare, count: max(1, count))
      for (index, port) in ports.enumerated() { (self.ports + index).initialize(to: port) }
    }

    func deallocate() {
      SampleMemory.free(spare)
      ports.deallocate()
      buffers.deallocate()
      slice.deallocate()
    }

    @_noLocks
    func fetch(_ frameCount: Int) {
      for index in 0..<count {
        buffers[index] = backline_jack_buffer(ports[index], jack_nframes_t(truncatingIfNeeded: frameCount))
      }
    }

    @_noLocks
    func cut(at offset: Int) {
      for index in 0..<count {
        if let buffer = buffers[index] { slice[index] = buffer + offset } else { slice[index] = spare }
      }
    }

    @_noLocks
    func silence(_ frameCount: Int) {
      for index in 0..<count {
        if let buffer = buffers[index] { backline_zero(buffer, Int64(frameCount)) }
      }
    }
  }
}
