import BacklineDSP
import BacklineEngine
import BacklineMedia

/// What is to be rendered: a source, through a graph, to a destination.
public struct OfflineJob: Sendable {
  public var source: any OfflineSource
  public var destination: any OfflineDestination
  /// `nil` passes the source through as it is.
  public var graph: GraphDescription?
  public var tail = TailPolicy.none
  /// The frames rendered at once, 1 to 8192: of no influence on the result (R1).
  public var blockFrames = 4096
  /// The threads that render beside those that read and write: of no influence on the result (R1). More than one are used where
  /// that is faster.
  public var threads = RenderThreads.one
  public var catalog = UnitCatalog.standard
  /// Seconds over which edits and parameter changes of a script are ramped (R4).
  public var rampTime = 0.01
  /// True where the sound comes in over a ramp, as it does when a live engine starts.
  public var fadesIn = false
  /// True where the latency of the graph stays in the output, as it does live.
  public var keepsLatency = false
  /// True where the script says, too, when what has ended is taken out of the graph.
  public var isTidiedByScript = false
  /// What happens meanwhile, made for the engine that renders.
  public var script: (@Sendable (Engine) throws(OfflineError) -> any OfflineScript)?
  /// What reads the files of players and convolvers in the graph: before each block, so that they are waited for. Needed where
  /// nodes of `graph` name files, and by scripts that load some.
  public var media: MediaService?
  /// What has kept one of those files from being read on: asked before each block, and the end of the rendering.
  public var mediaFailure: (@Sendable () -> EngineError?)?
  /// Called now and then on a thread of the pipeline.
  public var onProgress: (@Sendable (OfflineProgress) -> Void)?

  public init(source: any OfflineSource, destination: any OfflineDestination, graph: GraphDescription? = nil) {
    self.source = source
    self.destination = destination
    self.graph = graph
  }

  /// A graph that passes `channelCount` channels through.
  static func passage(channelCount: Int) -> GraphDescription {
    GraphDescription(
      ports: PortLayout(
        inputs: [(1...channelCount).map { "in_\($0)" }], outputs: [(1...channelCount).map { "out_\($0)" }]),
      nodes: [], connections: [ConnectionSpecification(from: Endpoint("input", bus: 0), to: Endpoint("output", bus: 0))]
    )
  }
}
