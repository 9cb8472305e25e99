import BacklineEngine
import Synchronization

/// One end of a connection, as it is asked for and told.
public struct ConnectionPoint: Sendable {
  /// The node.
  public let node: AudioNode
  /// Its bus, from 0.
  public let bus: Int

  /// A bus of a node.
  public init(_ node: AudioNode, bus: Int = 0) {
    self.node = node
    self.bus = bus
  }
}

/// Connections and formats.
///
/// A connection has one format, which is that of both buses. Without one it takes that of the source's output. Rates are
/// converted where a source (a player, a source node) meets a mixer, a converter or the output, nowhere else; a mixer takes any rate
/// and any number of channels, a converter those that it has a way for, a unit one channel or two, and the output what it has, one for
/// two, or two for one.
extension AudioEngine {
  /// Connects the first output of a node to the first input of another, or a mixer's next free one.
  public func connect(
    _ source: AudioNode, to destination: AudioNode, format: AudioFormat? = nil
  ) throws(AudioError) {
    var bus = 0
    if destination.isMixing {
      // What goes there already keeps its place.
      bus = connectedBus(source, destination) ?? nextFreeInput(of: destination)
    }
    try connect(source, bus: 0, to: destination, bus: bus, format: format)
  }

  private func connectedBus(_ source: AudioNode, _ mixer: AudioNode) -> Int? {
    engine.wait { _ in
      graph.connections(from: graph.bus(source, 0)).first { $0.destination.node == ObjectIdentifier(mixer) }?
        .destination.bus
    }
  }

  /// Connects an output bus to an input bus. What was connected to either is disconnected.
  public func connect(
    _ source: AudioNode, bus sourceBus: Int, to destination: AudioNode, bus destinationBus: Int,
    format: AudioFormat? = nil
  ) throws(AudioError) {
    try connect(source, bus: sourceBus, to: [ConnectionPoint(destination, bus: destinationBus)], format: format)
  }

  /// Connects an output bus to several input buses, in place of all that it was connected to. All or none.
  public func connect(
    _ source: AudioNode, bus sourceBus: Int = 0, to points: [ConnectionPoint], format: AudioFormat? = nil
  ) throws(AudioError) {
    try control { engine throws(AudioError) in
      var entry = try graph.entry(source)
      try checkBus(source, sourceBus, isInput: false)
      for point in points {
        _ = try graph.entry(point.node)
        try checkBus(point.node, point.bus, isInput: true)
      }
      let isFixed =
        format != nil
        || (source.isSource && graph.connections(from: graph.bus(source, sourceBus)).contains { $0.isFixed })
      let format = (format ?? defaultFormat(of: entry, output: sourceBus, engine)).standard
      try format.check()
      try checkSource(entry, format, engine)
      let from = graph.bus(source, sourceBus)
      var wanted: [AudioGraph.Connection] = []
      for point in points {
        let connection = AudioGraph.Connection(
          source: from, destination: graph.bus(point.node, point.bus), format: format, isFixed: isFixed)
        try checkDestination(connection)
        // Asked first, so that nothing has been changed when the channels do not fit.
        _ = try kernelCommand(for: connection, sourceChannels: source.hasFreeChannels ? format.channelCount : nil)
        wanted.append(connection)
      }
      if source.hasFreeChannels && entry.outputChannels != format.channelCount {
        entry = try setChannels(entry, format.channelCount, engine)
        graph.connections.removeAll {
          $0.source.node == ObjectIdentifier(source) || $0.destination.node == ObjectIdentifier(source)
        }
      }
      for connection in wanted { try fitSink(connection, engine) }
      try replace(from, by: wanted, engine)
      followLatency(engine)
      followStretches(engine)
    }
  }

  /// Gives a sink the channels that come.
  private func fitSink(_ connection: AudioGraph.Connection, _ engine: isolated Engine) throws(AudioError) {
    guard let entry = graph.entries[connection.destination.node], entry.node is SinkNode,
      entry.inputChannels != connection.format.channelCount
    else { return }
    graph.connections.removeAll { $0.destination == connection.destination }
    _ = try setChannels(entry, connection.format.channelCount, engine)
  }

  private func replace(
    _ source: AudioGraph.Bus, by wanted: [AudioGraph.Connection], _ engine: isolated Engine
  ) throws(AudioError) {
    let gone = graph.connections.filter { old in
      old.source == source || wanted.contains { $0.destination == old.destination }
    }
    var commands: [Command] = gone.map { .disconnect(graph.endpoint($0.source), graph.endpoint($0.destination)) }
    for connection in wanted {
      commands.append(try kernelCommand(for: connection))
      commands.append(contentsOf: mixingCommands(connection, ramp: 0))
    }
    try perform(commands, engine)
    graph.connections.removeAll { old in gone.contains { $0.source == old.source && $0.destination == old.destination }
    }
    graph.connections.append(contentsOf: wanted)
  }

  /// The kernel's connection for one of the user's.
  func kernelCommand(
    for connection: AudioGraph.Connection, sourceChannels: Int? = nil
  ) throws(AudioError) -> Command {
    guard let source = graph.entries[connection.source.node],
      let destination = graph.entries[connection.destination.node]
    else { throw AudioError(.internal, "a connection without a node") }
    let format = connection.format
    let from = sourceChannels ?? source.outputChannels
    let to = destination.node is SinkNode ? format.channelCount : destination.inputChannels
    let converter = destination.node as? ConverterNode
    let ways =
      converter.map { $0.ways(from: format.channelCount) }
      ?? AudioGraph.ways(from: format.channelCount, to: to, isSumming: destination.node.isMixing)
    var parts = AudioGraph.parts(from: from, through: format.channelCount, by: ways)
    if parts == nil, destination.node is OutputNode, destination.inputChannels > format.channelCount {
      // An output with more channels is silent in the others.
      let first = (0..<format.channelCount).map { ChannelPart($0, $0) }
      parts = AudioGraph.parts(from: from, through: format.channelCount, by: first)
    }
    guard let parts else {
      let wanted = AudioFormat(sampleRate: format.sampleRate, channelCount: destination.inputChannels)
      let advice = converter == nil ? "put a mixer or a converter between" : "give it a map of those that come"
      throw .mismatch(
        format, wanted, "the \(destination.node.kindName) takes \(destination.inputChannels) channels; \(advice)")
    }
    return .connect(graph.endpoint(connection.source), graph.endpoint(connection.destination), parts: parts)
  }

  private func checkBus(_ node: AudioNode, _ bus: Int, isInput: Bool) throws(AudioError) {
    let count = isInput ? node.inputCount : node.outputCount
    if (0..<count).contains(bus) { return }
    let side = isInput ? "input" : "output"
    throw AudioError(
      .noSuchBus,
      count == 0
        ? "the \(node.kindName) has no \(side)"
        : "the \(node.kindName) has no \(side) bus \(bus), but 0 to \(count - 1)")
  }

  /// Whether a node can give a format.
  private func checkSource(
    _ entry: AudioGraph.Entry, _ format: AudioFormat, _ engine: isolated Engine
  ) throws(AudioError) {
    let natural = entry.node.naturalFormat(isInput: false, bus: 0, sampleRate: engine.sampleRate)
    if entry.node.isSource {
      if !entry.node.hasFreeChannels && natural != format {
        throw .mismatch(format, natural, "the \(entry.node.kindName) was made with that format")
      }
      return
    }
    let own = AudioFormat(
      sampleRate: incomingRate(entry, engine) ?? format.sampleRate, channelCount: entry.outputChannels)
    if format.sampleRate != own.sampleRate {
      throw .mismatch(
        format, own, "the \(entry.node.kindName) gives the rate that comes in; only mixers and converters change it")
    }
    if AudioGraph.ways(from: own.channelCount, to: format.channelCount, isSumming: false) == nil {
      throw .mismatch(format, own, "the \(entry.node.kindName) gives \(own.channelCount) channels")
    }
  }

  /// The rate that a node that is no source has to give; `nil` while nobody knows.
  private func incomingRate(_ entry: AudioGraph.Entry, _ engine: isolated Engine) -> Double? {
    if entry.node.convertsRate || entry.node is InputNode { return isRateKnown(engine) ? engine.sampleRate : nil }
    return graph.connections.first { $0.destination.node == ObjectIdentifier(entry.node) }?.format.sampleRate
  }

  /// True where a server has said its rate, or manual rendering has fixed it.
  private func isRateKnown(_ engine: isolated Engine) -> Bool {
    life.epoch.load(ordering: .relaxed) > 0 || manual.withLock { $0.mode != nil }
  }

  /// Whether a node can take a format.
  private func checkDestination(_ connection: AudioGraph.Connection) throws(AudioError) {
    guard let entry = graph.entries[connection.destination.node] else { return }
    let node = entry.node
    if node is RateNode, let source = graph.entries[connection.source.node]?.node, !(source is PlayerNode) {
      throw AudioError(
        .notAllowed,
        "the \(node.kindName) belongs right behind a player, whose reading it changes: connect a player to it")
    }
    if node.convertsRate || node is OutputNode || node is SinkNode { return }
    if connection.source.node != connection.destination.node,
      let out = graph.connections.first(where: { $0.source.node == ObjectIdentifier(node) }),
      out.format.sampleRate != connection.format.sampleRate
    {
      throw .mismatch(
        connection.format, out.format,
        "the \(node.kindName) is connected at that rate already; only mixers and converters change it")
    }
    let other = graph.connections.first {
      $0.destination.node == ObjectIdentifier(node) && $0.destination != connection.destination
    }
    if let other, other.format.sampleRate != connection.format.sampleRate {
      throw .mismatch(connection.format, other.format, "all inputs of the \(node.kindName) have one rate")
    }
  }

  // MARK: Taking apart

  /// Takes the connection into an input bus away.
  public func disconnectInput(of node: AudioNode, bus: Int) throws(AudioError) {
    try disconnect(node, bus, isInput: true) { $0.destination == $1 }
  }

  /// Takes all connections into a node away.
  public func disconnectInput(of node: AudioNode) throws(AudioError) {
    try disconnect(node, nil, isInput: true) { $0.destination.node == $1.node }
  }

  /// Takes the connections that leave an output bus away.
  public func disconnectOutput(of node: AudioNode, bus: Int) throws(AudioError) {
    try disconnect(node, bus, isInput: false) { $0.source == $1 }
  }

  /// Takes all connections that leave a node away.
  public func disconnectOutput(of node: AudioNode) throws(AudioError) {
    try disconnect(node, nil, isInput: false) { $0.source.node == $1.node }
  }

  private func disconnect(
    _ node: AudioNode, _ wanted: Int?, isInput: Bool,
    where matches: @Sendable (AudioGraph.Connection, AudioGraph.Bus) -> Bool
  ) throws(AudioError) {
    try control { engine throws(AudioError) in
      _ = try graph.entry(node)
      if let wanted { try checkBus(node, wanted, isInput: isInput) }
      let bus = graph.bus(node, wanted ?? 0)
      let gone = graph.connections.filter { matches($0, bus) }
      if gone.isEmpty && wanted != nil {
        throw AudioError(.notConnected, "nothing is connected to bus \(bus.bus) of the \(node.kindName)")
      }
      try perform(gone.map { .disconnect(graph.endpoint($0.source), graph.endpoint($0.destination)) }, engine)
      graph.connections.removeAll { matches($0, bus) }
      followLatency(engine)
      followStretches(engine)
    }
  }

  // MARK: Questions

  /// What is connected to an input bus.
  public func inputConnectionPoint(for node: AudioNode, bus: Int) -> ConnectionPoint? {
    engine.wait { _ in
      guard let found = graph.connection(into: graph.bus(node, bus)), let entry = graph.entries[found.source.node]
      else {
        return nil
      }
      return ConnectionPoint(entry.node, bus: found.source.bus)
    }
  }

  /// What an output bus is connected to.
  public func outputConnectionPoints(for node: AudioNode, bus: Int) -> [ConnectionPoint] {
    engine.wait { _ in
      graph.connections(from: graph.bus(node, bus)).compactMap { connection in
        graph.entries[connection.destination.node].map { ConnectionPoint($0.node, bus: connection.destination.bus) }
      }
    }
  }

  func nextFreeInput(of mixer: AudioNode) -> Int {
    engine.wait { _ in
      let taken = Set(
        graph.connections.filter { $0.destination.node == ObjectIdentifier(mixer) }.map(\.destination.bus))
      return (0...).first { !taken.contains($0) } ?? 0
    }
  }

  func format(of node: AudioNode, input bus: Int) -> AudioFormat? {
    engine.wait { engine in
      guard let entry = graph.entries[ObjectIdentifier(node)] else { return nil }
      if let connection = graph.connection(into: graph.bus(node, bus)) { return connection.format }
      let natural = node.naturalFormat(isInput: true, bus: bus, sampleRate: engine.sampleRate)
      return AudioFormat(
        sampleRate: graph.rate(of: entry) ?? engine.sampleRate,
        channelCount: node is OutputNode ? entry.inputChannels : natural.channelCount)
    }
  }

  func format(of node: AudioNode, output bus: Int) -> AudioFormat? {
    engine.wait { engine in graph.entries[ObjectIdentifier(node)].map { format(of: $0, output: bus, engine) } }
  }

  /// The format of a connection that none is asked for: a source keeps its own, anything else gives what comes in.
  private func defaultFormat(
    of entry: AudioGraph.Entry, output bus: Int, _ engine: isolated Engine
  ) -> AudioFormat {
    if entry.node.isSource { return format(of: entry, output: bus, engine) }
    let natural = entry.node.naturalFormat(isInput: false, bus: bus, sampleRate: engine.sampleRate)
    return AudioFormat(
      sampleRate: graph.rate(from: ObjectIdentifier(entry.node), engine.sampleRate, depth: 0),
      channelCount: entry.node is InputNode ? entry.outputChannels : natural.channelCount)
  }

  private func format(of entry: AudioGraph.Entry, output bus: Int, _ engine: isolated Engine) -> AudioFormat {
    if let connection = graph.connections(from: graph.bus(entry.node, bus)).first { return connection.format }
    let natural = entry.node.naturalFormat(isInput: false, bus: bus, sampleRate: engine.sampleRate)
    if entry.node.isSource {
      return entry.node.hasFreeChannels
        ? AudioFormat(sampleRate: natural.sampleRate, channelCount: entry.outputChannels) : natural
    }
    return AudioFormat(
      sampleRate: graph.rate(of: entry) ?? engine.sampleRate,
      channelCount: entry.node is InputNode ? entry.outputChannels : natural.channelCount)
  }

  /// The format of a node's output where it is connected.
  func connectedFormat(of node: AudioNode) -> AudioFormat? {
    engine.wait { _ in graph.connections(from: graph.bus(node, 0)).first?.format }
  }

  // MARK: Speed and pitch

  /// Tells players of the speed and pitch behind them.
  func followStretches() { engine.wait { followStretches($0) } }

  private func followStretches(_ engine: isolated Engine) {
    for entry in graph.entries.values {
      guard let player = entry.node as? PlayerNode, let schedule = player.schedule else { continue }
      let behind = graph.connections(from: graph.bus(player, 0)).lazy
        .compactMap { self.graph.entries[$0.destination.node]?.node as? RateNode }.first
      schedule.setStretch(behind?.stretch)
    }
  }

  // MARK: Mixing

  /// What an input of a mixer has to be set to for the node behind it.
  private func mixingCommands(_ connection: AudioGraph.Connection, ramp: Double?) -> [Command] {
    guard let source = graph.entries[connection.source.node], let mixer = graph.entries[connection.destination.node],
      mixer.node.isMixing
    else { return [] }
    let place = MixingState.Place(mixer: connection.destination.node, bus: connection.destination.bus)
    let values = mixer.node.mixingValues(
      of: source.node, source.node.mixing.withLock { $0.values(place) }, channelCount: connection.format.channelCount)
    let first = 1 + 2 * connection.destination.bus
    return [
      .set(node: mixer.name, parameter: first, value: values.volume, ramp: ramp),
      .set(node: mixer.name, parameter: first + 1, value: values.pan, ramp: ramp),
    ]
  }

  /// Sets the mixers' inputs that a node goes to.
  func applyMixing(of node: AudioNode) { applyMixing { $0.source.node == ObjectIdentifier(node) } }

  /// Sets the inputs of a mixer anew.
  func applyMixing(into mixer: AudioNode) { applyMixing { $0.destination.node == ObjectIdentifier(mixer) } }

  private func applyMixing(_ isMeant: @Sendable (AudioGraph.Connection) -> Bool) {
    try? control { engine throws(AudioError) in
      let commands = graph.connections.filter(isMeant)
        .flatMap { mixingCommands($0, ramp: nil) }
      try perform(commands, engine)
    }
  }
}
