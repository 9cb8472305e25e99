/// One change of a performance, as a `ChangeObserver` hears of it.
public struct RecordedChange: Sendable {
  public enum Kind: Sendable {
    /// A transaction. The name of each parameter that it sets stands at its command's place, and nothing at the others.
    case commands([Command], parameterNames: [String])
    case undo
    case redo
    /// What had ended was taken out of the plan.
    case tidied(Engine.Tidied)
    /// Everything since the last one went to the render thread as one plan; false where a newer one took its place.
    case published(isAdopted: Bool)
    /// The outputs began to fade out for good.
    case fadedOut
    /// A command to a unit by itself, such as a player's transport, in the words of OSC; taken with the block at its frame.
    case unit(address: String, arguments: [UnitArgument])
  }

  /// Counts the changes in the order in which the control queue made them. They are told in the order in which the render
  /// thread took them.
  public let order: Int
  /// The frame at which the render thread took it.
  public let frame: Int64
  public let kind: Kind
  /// True for what went to the render thread by itself, false for what went with a plan or not at all.
  public let isQueued: Bool
}

/// An argument of a command to a unit.
public enum UnitArgument: Sendable, Equatable {
  case text(String)
  case whole(Int64)
  case real(Double)
}

/// Who takes a performance down. Called on the control queue.
public protocol ChangeObserver: AnyObject, Sendable {
  /// Rendering begins with this graph, at frame 0.
  func performanceBegan(graph: GraphDescription, sampleRate: Double, rampTime: Double)
  func performanceChanged(_ change: RecordedChange)
  /// Nothing more comes: rendering has ended, or the ports have changed. `isExact` is false where something got lost.
  func performanceEnded(isExact: Bool)
}

/// Takes down what the control queue does and at which frames the render thread took it, so that it can be done again to the
/// bit (R1). Control queue only.
final class ChangeLog {
  /// What has to happen before the frame of a change is known.
  private enum Wait {
    case event(Int32)
    case nextPlan
    case plan(Int32)
    /// Asked until it knows.
    case unit(() -> Int64?)
  }

  private struct Pending {
    let order: Int
    let kind: RecordedChange.Kind
    var wait: Wait
  }

  /// How the events of the last transaction went.
  enum Way {
    /// There were none.
    case none
    /// With the next plan.
    case plan
    /// Through the queue, under this number.
    case queue(Int32)
  }

  let observer: any ChangeObserver
  var way = Way.none
  private(set) var isExact = true
  private var pending: [Pending] = []
  private var witnesses: [() -> Bool] = []
  private var nextOrder = 0
  private var nextEvent: Int32 = 0

  init(_ observer: any ChangeObserver) { self.observer = observer }

  /// A number for an event that goes through the queue.
  func eventID() -> Int32 {
    nextEvent = nextEvent == .max ? 1 : nextEvent + 1
    return nextEvent
  }

  /// Notes a change that goes with the next plan, or by itself.
  func note(_ kind: RecordedChange.Kind, isStructural: Bool, now: Int64) {
    let way = isStructural ? .plan : way
    self.way = .none
    let order = takeOrder()
    switch way {
    case .plan: pending.append(Pending(order: order, kind: kind, wait: .nextPlan))
    case .queue(let id): pending.append(Pending(order: order, kind: kind, wait: .event(id)))
    case .none:
      observer.performanceChanged(RecordedChange(order: order, frame: now, kind: kind, isQueued: false))
    }
  }

  private func takeOrder() -> Int {
    defer { nextOrder += 1 }
    return nextOrder
  }

  /// A plan has been made of all that waited for one.
  func published(_ serial: Int32) {
    for index in pending.indices {
      if case .nextPlan = pending[index].wait { pending[index].wait = .plan(serial) }
    }
    pending.append(Pending(order: takeOrder(), kind: .published(isAdopted: true), wait: .plan(serial)))
  }

  /// The render thread has taken a plan, and with it all before that.
  func adopted(_ serial: Int32, at frame: Int64) {
    pending.removeAll { item in
      guard case .plan(let own) = item.wait, own <= serial else { return false }
      var kind = item.kind
      if case .published = kind { kind = .published(isAdopted: own == serial) }
      observer.performanceChanged(RecordedChange(order: item.order, frame: frame, kind: kind, isQueued: false))
      return true
    }
  }

  /// The render thread has taken an event.
  func taken(_ id: Int32, at frame: Int64) {
    guard
      let index = pending.firstIndex(where: { item in
        if case .event(let own) = item.wait { own == id } else { false }
      })
    else { return }
    let item = pending.remove(at: index)
    observer.performanceChanged(RecordedChange(order: item.order, frame: frame, kind: item.kind, isQueued: true))
  }

  /// Notes a command to a unit, whose frame `frame` answers as soon as it is known.
  func noteUnit(_ address: String, _ arguments: [UnitArgument], frame: @escaping () -> Int64?) {
    pending.append(
      Pending(order: takeOrder(), kind: .unit(address: address, arguments: arguments), wait: .unit(frame)))
  }

  /// Asks what the units know.
  func askUnits() {
    pending.removeAll { item in
      guard case .unit(let ask) = item.wait, let frame = ask() else { return false }
      observer.performanceChanged(RecordedChange(order: item.order, frame: frame, kind: item.kind, isQueued: true))
      return true
    }
  }

  /// Has a unit say at the end whether all that was heard of it followed from what is taken down.
  func addWitness(_ isExact: @escaping () -> Bool) { witnesses.append(isExact) }

  /// Something cannot be taken down as it was.
  func spoil() { isExact = false }

  func end() {
    askUnits()
    observer.performanceEnded(isExact: isExact && witnesses.allSatisfy { $0() })
  }
}
