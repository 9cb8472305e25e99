import BacklineDSP
import BacklineGraph
import BacklineRealtime

/// What is rendered, on its way to a recorder. It is no part of the graph: no preset has it, and no undo takes it back.
extension Engine {
  /// How many channels a source has; `input` and `output` without a bus are all ports.
  public func recordChannels(of source: Endpoint) throws(EngineError) -> Int {
    switch source.node {
    case "input", "output":
      let buses = source.node == "input" ? store.ports.inputs : store.ports.outputs
      guard let bus = source.bus else { return buses.reduce(0) { $0 + $1.count } }
      if !buses.indices.contains(bus) {
        throw EngineError(.notFound, "'\(source)': there are \(buses.count) \(source.node) buses, counted from 0")
      }
      return buses[bus].count
    default:
      let node = try store.node(source.node)
      let bus = source.bus ?? 0
      if bus >= node.description.outputs.count {
        throw EngineError(.notFound, "'\(source)': '\(source.node)' has \(node.description.outputs.count) output buses")
      }
      return store.topology.outputChannels(node.slot, Int32(bus))
    }
  }

  /// Has the render thread write `tracks` to `memory`, from a quantum edge soon on; `nil` ends it.
  ///
  /// A node that goes is silence from then on, one that gets another name is followed.
  public func record(_ tracks: [RecordTrack], into memory: RecordMemory?) {
    if let old = recordMemory { discard { withExtendedLifetime(old) {} } }
    recordMemory = memory
    store.recordTracks = memory == nil ? [] : tracks
    var action = AdoptionAction(.setRecorder)
    action.recorder = memory?.ring
    store.actions.append(action)
    store.isDirty = true
    needsFlush()
  }

  /// The tracks as the compiler needs them.
  var recordSteps: [RecordStep] {
    store.recordTracks.map { track in
      RecordStep(
        place: place(of: track.source), firstChannel: Int32(track.firstChannel),
        channelCount: Int32(track.channelCount))
    }
  }

  private func place(of source: Endpoint) -> RecordStep.Place {
    switch source.node {
    case "input", "output":
      let buses = source.node == "input" ? store.topology.inputBuses : store.topology.outputBuses
      let bus = source.bus ?? 0
      guard buses.indices.contains(bus) else { return .nothing }
      return source.node == "input" ? .input(port: buses[bus].firstPort) : .output(port: buses[bus].firstPort)
    default:
      guard let slot = store.byName[source.node] else { return .nothing }
      return .node(slot: slot, bus: Int32(source.bus ?? 0))
    }
  }
}
