import Synchronization

/// How loud a node is heard in the mixers that it goes to, and where: kept through every reconnection.
struct MixingState {
  struct Place: Hashable {
    let mixer: ObjectIdentifier
    let bus: Int
  }

  struct Values {
    var volume: Float = 1
    var pan: Float = 0
  }

  /// What holds where nothing else was said.
  var general = Values()
  /// Where the node is, for an environment.
  var position = AudioPosition.origin
  var places: [Place: Values] = [:]

  func values(_ place: Place) -> Values { places[place] ?? general }
}

/// One input of one mixer as a node's sound has it.
public struct MixingDestination: Sendable {
  /// The mixer.
  public let mixer: MixerNode
  /// Its input bus.
  public let bus: Int
  private let source: AudioNode

  init(_ source: AudioNode, _ mixer: MixerNode, _ bus: Int) {
    self.source = source
    self.mixer = mixer
    self.bus = bus
  }

  private var place: MixingState.Place { MixingState.Place(mixer: ObjectIdentifier(mixer), bus: bus) }

  /// How loud the node is in this place: 1 leaves it, 0 is silence; numbers outside are taken as the nearest. Moves smoothly.
  public var volume: Float {
    get { source.mixing.withLock { $0.values(place).volume } }
    nonmutating set {
      source.mixing.withLock { $0.places[place, default: $0.general].volume = unit(newValue, 0...1) }
      source.engine?.applyMixing(of: source)
    }
  }

  /// The balance in this place, from -1 (left only) to 1 (right only).
  public var pan: Float {
    get { source.mixing.withLock { $0.values(place).pan } }
    nonmutating set {
      source.mixing.withLock { $0.places[place, default: $0.general].pan = unit(newValue, -1...1) }
      source.engine?.applyMixing(of: source)
    }
  }
}

extension AudioNode {
  /// How loud the node is in all mixers that it goes to: 1 leaves it, 0 is silence. Moves smoothly.
  public var volume: Float {
    get { mixing.withLock { $0.general.volume } }
    set {
      mixing.withLock { state in
        state.general.volume = unit(newValue, 0...1)
        for place in state.places.keys { state.places[place]?.volume = state.general.volume }
      }
      engine?.applyMixing(of: self)
    }
  }

  /// The balance in all mixers that it goes to, from -1 (left only) to 1 (right only).
  public var pan: Float {
    get { mixing.withLock { $0.general.pan } }
    set {
      mixing.withLock { state in
        state.general.pan = unit(newValue, -1...1)
        for place in state.places.keys { state.places[place]?.pan = state.general.pan }
      }
      engine?.applyMixing(of: self)
    }
  }

  /// Where the node is, for an `EnvironmentNode` that it goes to; the origin at first. Numbers that are none change nothing.
  public var position3D: AudioPosition {
    get { mixing.withLock { $0.position } }
    set {
      if !newValue.isFinite { return }
      mixing.withLock { $0.position = newValue }
      engine?.applyMixing(of: self)
    }
  }

  /// One input of one mixer, to be set apart from the others.
  public func destination(mixer: MixerNode, bus: Int) -> MixingDestination { MixingDestination(self, mixer, bus) }
}

/// A number brought into its range; the lower end for one that is none.
private func unit(_ value: Float, _ range: ClosedRange<Float>) -> Float {
  value >= range.lowerBound ? min(value, range.upperBound) : range.lowerBound
}
