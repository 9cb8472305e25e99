import BacklineEngine

/// What happens to the graph while it renders: automation from a file, the edits of a performance that was taken down.
///
/// Everything is called by one thread at a time.
public protocol OfflineScript: AnyObject, Sendable {
  /// The frame of the next step; `nil` after the last. Never falls.
  var nextFrame: Int64? { get throws(OfflineError) }
  /// True where the next step changes the graph: its plan is taken at a quantum's edge unless it is told its frame before.
  var isPlanNext: Bool { get }
  /// Does the next step, which belongs to the frame `frame`: at once where that is the frame rendered next, else by giving
  /// the engine the frame. Returns when all of it has been given to the engine.
  func step(_ engine: Engine, at frame: Int64, isNow: Bool) throws(OfflineError)
}
