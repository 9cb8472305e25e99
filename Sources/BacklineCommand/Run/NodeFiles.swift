import BacklineDSP
import BacklineEngine
import BacklineMedia

/// The files that the nodes of a graph name: looked for before the graph is taken over, so that one that cannot be read
/// refuses it, and so that a convolver has its response from its first frame on.
struct NodeFiles: Sendable {
  /// By path.
  private(set) var responses: [String: ImpulseResponse] = [:]
  /// The rate that they have been brought to.
  private(set) var sampleRate = 0.0

  /// None.
  init() {}

  /// Resolves the paths in `graph` and reads the impulse responses at `sampleRate`. Waits for the disk.
  init(
    of graph: inout GraphDescription, sampleRate: Double, resolve: (String) throws(EngineError) -> String
  ) throws(EngineError) {
    self.sampleRate = sampleRate
    for index in graph.nodes.indices {
      guard let file = graph.nodes[index].file else { continue }
      do throws(EngineError) {
        let path = try resolve(file)
        graph.nodes[index].file = path
        if graph.nodes[index].kind == Convolver.description.kind {
          if responses[path] == nil {
            responses[path] = try ImpulseResponse.load(path: path, sampleRate: Int(sampleRate.rounded())).response
          }
        } else {
          do throws(SoundFileError) {
            _ = try SoundFileReader(path: path)
          } catch {
            throw EngineError(error)
          }
        }
      } catch {
        throw EngineError(error.code, "node \(quoted(graph.nodes[index].name)): \(error.message)")
      }
    }
  }
}
