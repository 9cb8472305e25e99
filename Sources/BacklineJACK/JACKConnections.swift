import BacklineEngine
import CBackline
import CJACK
import Glibc
import Synchronization

/// The memory of connections, for the life of a host.
final class ConnectionKeeper: Sendable {
  let memory: Mutex<ConnectionMemory>
  /// True when the user has given a list of connections, so that the policy for new ports is not used.
  let hasList: Atomic<Bool>

  init(_ connections: [JACKConnection]) {
    memory = Mutex(ConnectionMemory(connections))
    hasList = Atomic(!connections.isEmpty)
  }
}

// On the worker thread. No lock is held while the library is called.
extension JACKSession {
  /// Makes the connections of a session that has just begun.
  func connectAtStart() {
    let wanted = connections.memory.withLock { $0.restorable }
    connectNew()
    restore(wanted)
  }

  /// Connects, where that is the policy, ports that have not been there before: inputs to capture ports and outputs to playback
  /// ports of the hardware, in order.
  ///
  /// They are wanted from then on, so that what a server's end keeps from being made is made on the next one.
  func connectNew() {
    let capture = systemPorts(JackPortIsPhysical.rawValue | JackPortIsOutput.rawValue)
    let playback = systemPorts(JackPortIsPhysical.rawValue | JackPortIsInput.rawValue)
    let new = connections.memory.withLock { $0.introduce(portNames.all) }
    if new.isEmpty || options.connectPolicy != .auto || connections.hasList.load(ordering: .relaxed) { return }
    // A server without hardware, or one that has just gone: there will be another.
    if capture.isEmpty && playback.isEmpty { return connections.memory.withLock { $0.reconsider(new) } }
    let pairs = Array(zip(portNames.inputs, capture)) + Array(zip(portNames.outputs, playback))
    let chosen = pairs.filter { new.contains($0.0) }.map { JACKConnection(port: $0.0, peer: $0.1) }
    connections.memory.withLock { memory in chosen.forEach { memory.connected($0) } }
    restore(chosen)
  }

  /// The audio ports with these flags, in the server's order.
  private func systemPorts(_ flags: UInt32) -> [String] {
    guard let client, let list = jack_get_ports(client, nil, JACK_DEFAULT_AUDIO_TYPE, UInt(flags)) else { return [] }
    defer { jack_free(list) }
    var names: [String] = []
    var index = 0
    while let name = list[index] {
      names.append(String(cString: name))
      index += 1
    }
    return names
  }

  /// Makes connections whose peers exist; says once of each other peer that it is missing.
  ///
  /// A peer's ports are there before it can be connected, at times by as long as it takes to load its samples: what fails is
  /// tried again ever more slowly, for a minute and a half.
  func restore(_ wanted: [JACKConnection], pause: Double = 0.1) {
    guard let client, isActive, !isLost, !notices.isClosing.load(ordering: .relaxed) else { return }
    var failed: [JACKConnection] = []
    for connection in wanted {
      guard let isOutput = isOutput(connection.port) else { continue }
      guard exists(connection.peer) else {
        if connections.memory.withLock({ $0.reportMissing(connection.peer) }) {
          options.log("\(connection.peer) is not there yet; it will be connected to \(connection.port) when it appears")
        }
        continue
      }
      let own = "\(name):\(connection.port)"
      let peer = fullName(connection.peer)
      let result = isOutput ? jack_connect(client, own, peer) : jack_connect(client, peer, own)
      if result != 0 && result != EEXIST { failed.append(connection) }
    }
    if failed.isEmpty || pause > 50 { return }
    let again = Set(failed)
    worker.run(after: pause) { [weak self] in
      guard let self else { return }
      // Not what the user has taken apart meanwhile, or wants no more.
      restore(connections.memory.withLock { $0.restorable.filter(again.contains) }, pause: pause * 2)
    }
  }

  /// Learns from what has happened, and makes wanted connections whose peers have appeared.
  func handle(_ portNotices: [PortNotice]) {
    var appeared: Set<String> = []
    var isSettling = false
    let now = backline_now()
    connections.memory.withLock { memory in
      for notice in portNotices {
        switch notice {
        case .appeared(let port):
          appeared.insert(port)
          memory.appeared(port)
        case .vanished(let port):
          appeared.remove(port)
          memory.vanished(port)
        case .renamed(let old, let new): memory.renamed(from: old, to: new)
        case .connected(let source, let destination):
          if let connection = connection(source, destination) { memory.connected(connection) }
        case .disconnected(let source, let destination):
          guard let connection = connection(source, destination) else { continue }
          memory.disconnected(connection, at: now)
          isSettling = true
        }
      }
    }
    if isSettling {
      worker.run(after: Double(ConnectionMemory.patience) * 1e-9) { [weak self] in self?.settle() }
    }
    if !appeared.isEmpty {
      restore(connections.memory.withLock { $0.restorable }.filter { appeared.contains(fullName($0.peer)) })
    }
  }

  private func settle() {
    if isLost || notices.isClosing.load(ordering: .relaxed) { return }
    let present = Set(connections.memory.withLock { $0.wanted }.map(\.peer).filter(exists))
    connections.memory.withLock { $0.settle(at: backline_now(), exists: present.contains) }
  }

  private func exists(_ peer: String) -> Bool {
    guard let client else { return false }
    return jack_port_by_name(client, fullName(peer)) != nil
  }

  private func fullName(_ peer: String) -> String { peer.hasPrefix(":") ? name + peer : peer }

  private func isOutput(_ port: String) -> Bool? {
    if portNames.outputs.contains(port) { return true }
    return portNames.inputs.contains(port) ? false : nil
  }

  /// The connection as it is remembered, when one of its ends is an own port.
  private func connection(_ source: String, _ destination: String) -> JACKConnection? {
    let prefix = name + ":"
    func own(_ port: String) -> String? { port.hasPrefix(prefix) ? String(port.dropFirst(prefix.count)) : nil }
    switch (own(source), own(destination)) {
    case (let port?, let peer?): return JACKConnection(port: port, peer: ":" + peer)
    case (let port?, nil): return JACKConnection(port: port, peer: destination)
    case (nil, let port?): return JACKConnection(port: port, peer: source)
    case (nil, nil): return nil
    }
  }
}
