/// The engine's side of its host.
struct Hosting {
  var host: (any AudioHost)?
  var name = ""
  /// The JACK ports have to be laid out anew.
  var arePortsStale = false
  var attempt = 0
  var retry: ControlExecutor.Timer?
  var isEnding = false
  var isRefused = false
}
