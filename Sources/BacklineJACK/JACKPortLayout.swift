import BacklineEngine
import CJACK
import Synchronization

// How the ports of a running client follow those of the graph. On the worker thread.
extension JACKSession {
  /// Renames kept ports by position, registers missing ones, and unregisters surplus ones once no cycle uses them. The client
  /// runs on, and connections of kept ports stay.
  func setPorts(_ configuration: HostConfiguration) {
    let wanted = JACKPortNames(inputs: configuration.inputPorts, outputs: configuration.outputPorts)
    guard let client, !isLost, !notices.isClosing.load(ordering: .relaxed), wanted != portNames else { return }
    let before = portNames
    var handles = ports.withLock { $0 }
    let surplus = handles.inputs.dropFirst(wanted.inputs.count) + handles.outputs.dropFirst(wanted.outputs.count)
    let gone = before.inputs.dropFirst(wanted.inputs.count) + before.outputs.dropFirst(wanted.outputs.count)
    connections.memory.withLock { $0.withdraw(Set(gone)) }
    rename(client, handles, from: before, to: wanted)
    handles.inputs.removeLast(max(0, handles.inputs.count - wanted.inputs.count))
    handles.outputs.removeLast(max(0, handles.outputs.count - wanted.outputs.count))
    add(client, wanted.inputs, to: &handles.inputs, JackPortIsInput)
    add(client, wanted.outputs, to: &handles.outputs, JackPortIsOutput)
    portNames = JACKPortNames(
      inputs: Array(wanted.inputs.prefix(handles.inputs.count)),
      outputs: Array(wanted.outputs.prefix(handles.outputs.count)))
    publish(handles)
    waitForPorts()
    for port in surplus { jack_port_unregister(client, port) }
    let new = Set(portNames.all).subtracting(before.all)
    connectNew()
    restore(connections.memory.withLock { $0.restorable }.filter { new.contains($0.port) })
    publishLatencies()
  }

  /// Gives every port that is there already its wanted name, or one out of the way where it is surplus.
  private func rename(
    _ client: OpaquePointer, _ handles: JACKPorts, from before: JACKPortNames, to wanted: JACKPortNames
  ) {
    let sides = [(handles.inputs, before.inputs, wanted.inputs), (handles.outputs, before.outputs, wanted.outputs)]
    let changes = sides.flatMap { ports, old, new in
      ports.indices.map { (port: ports[$0], old: old[$0], new: $0 < new.count ? new[$0] : nil) }
    }.filter { $0.old != $0.new }
    let taken = Set(wanted.all)
    // Names that are wanted have to be free first: two ports may even change theirs over.
    for (index, change) in changes.enumerated() where taken.contains(change.old) {
      rename(client, change.port, "~\(index)")
    }
    var names: [String: String] = [:]
    for change in changes {
      guard let new = change.new else { continue }
      rename(client, change.port, new)
      names[change.old] = new
    }
    connections.memory.withLock { $0.renameOwn(names) }
  }

  private func rename(_ client: OpaquePointer, _ port: OpaquePointer, _ name: String) {
    if jack_port_rename(client, port, name) != 0 { options.log("the JACK server refused the port name \(name)") }
  }

  /// Registers the ports that are missing at the end, up to one that is refused.
  private func add(
    _ client: OpaquePointer, _ names: [String], to ports: inout [OpaquePointer], _ direction: JackPortFlags
  ) {
    if ports.count >= names.count { return }
    do throws(HostFailure) {
      for name in names[ports.count...] { ports += try registerPorts(client, [name], direction) }
    } catch {
      if case .refused(let reason) = error { options.log(reason) }
    }
  }
}
