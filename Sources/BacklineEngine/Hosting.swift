/// The engine's side of its host.
struct Hosting {
  var host: (any AudioHost)?
  var name = ""
  /// The ports that the host has been told of last.
  var configuration: HostConfiguration?
  /// The host's ports may have to be laid out anew.
  var arePortsStale = false
  /// Counts the openings, so that events of earlier ones are told apart.
  var opening = 0
  /// Between the host's `opened` and its end.
  var isOpen = false
  /// While the host is being closed after a loss.
  var isClosing = false
  /// The engine's frame less the host's own count of frames.
  var frameOffset: Int64 = 0
  var attempt = 0
  var retry: ControlExecutor.Timer?
  var isEnding = false
  var isRefused = false
}
