import BacklineEngine
import BacklineRealtime
import CBackline
import CJACK
import Synchronization

// JACK's notification callbacks. Their argument is the session, which is kept alive until the client has been closed.
// File-level functions: a closure formed in isolated code would be entered with a check of its executor, on a thread
// that has none.

extension JACKSession {
  /// Sets every callback; before the client is activated.
  func setCallbacks(_ client: OpaquePointer, process: UnsafeMutableRawPointer) -> Bool {
    let argument = Unmanaged.passUnretained(self).toOpaque()
    // PipeWire (0.3.65) knows the plain one only. jackd2 would call it after the other, from the thread that comes second
    // to the server's end, at a time when the client may be being closed.
    if JACKLibrary.isPipeWire {
      jack_on_shutdown(client, shutdown, argument)
    } else {
      jack_on_info_shutdown(client, infoShutdown, argument)
    }
    let results = [
      jack_set_process_callback(client, jackProcess, process),
      jack_set_thread_init_callback(client, jackThreadInit, argument),
      jack_set_buffer_size_callback(client, bufferSizeChanged, argument),
      jack_set_sample_rate_callback(client, sampleRateChanged, argument),
      jack_set_xrun_callback(client, xrunHappened, argument),
      jack_set_freewheel_callback(client, freewheelChanged, argument),
      jack_set_graph_order_callback(client, graphOrderChanged, argument),
      jack_set_port_registration_callback(client, portRegistered, argument),
      jack_set_port_connect_callback(client, portConnected, argument),
      jack_set_port_rename_callback(client, portRenamed, argument),
      jack_set_latency_callback(client, latencyAsked, argument),
    ]
    return results.allSatisfy { $0 == 0 }
  }

  /// The full name of a port by its id.
  fileprivate func name(of id: jack_port_id_t) -> String? {
    guard let client, let port = jack_port_by_id(client, id), let name = jack_port_name(port) else { return nil }
    return String(cString: name)
  }
}

private func session(_ argument: UnsafeMutableRawPointer?) -> JACKSession? {
  argument.map { Unmanaged<JACKSession>.fromOpaque($0).takeUnretainedValue() }
}

private func infoShutdown(
  _ code: jack_status_t, _ reason: UnsafePointer<CChar>?, _ argument: UnsafeMutableRawPointer?
) {
  session(argument)?.notices.shutDown(reason)
}

private func shutdown(_ argument: UnsafeMutableRawPointer?) { session(argument)?.notices.shutDown(nil) }

private func bufferSizeChanged(_ frames: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let session = session(argument) else { return 0 }
  session.notices.period.store(Int(frames), ordering: .releasing)
  session.notices.wake()
  return 0
}

private func sampleRateChanged(_ rate: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let session = session(argument) else { return 0 }
  session.notices.sampleRate.store(Int(rate), ordering: .releasing)
  session.flags.pointee.sampleRate.store(Int(rate), ordering: .relaxed)
  session.notices.wake()
  return 0
}

private func xrunHappened(_ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let session = session(argument) else { return 0 }
  session.record.meter.pointee.xruns.wrappingAdd(1, ordering: .relaxed)
  session.notices.xruns.wrappingAdd(1, ordering: .releasing)
  session.notices.wake()
  return 0
}

private func freewheelChanged(_ isOn: Int32, _ argument: UnsafeMutableRawPointer?) {
  guard let session = session(argument) else { return }
  session.flags.pointee.isFreewheeling.store(isOn != 0, ordering: .relaxed)
  session.notices.isFreewheeling.store(isOn != 0, ordering: .releasing)
  session.notices.wake()
}

private func graphOrderChanged(_ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let session = session(argument) else { return 0 }
  session.notices.thread.store(backline_thread_id(), ordering: .relaxed)
  session.notices.isGraphChanged.store(true, ordering: .releasing)
  session.notices.wake()
  return 0
}

private func portRegistered(_ id: jack_port_id_t, _ isNew: Int32, _ argument: UnsafeMutableRawPointer?) {
  guard let session = session(argument), let name = session.name(of: id) else { return }
  session.notices.add(isNew != 0 ? .appeared(name) : .vanished(name))
}

private func portConnected(
  _ source: jack_port_id_t, _ destination: jack_port_id_t, _ isConnected: Int32, _ argument: UnsafeMutableRawPointer?
) {
  guard let session = session(argument), let source = session.name(of: source),
    let destination = session.name(of: destination)
  else { return }
  session.notices.add(
    isConnected != 0
      ? .connected(source: source, destination: destination)
      : .disconnected(source: source, destination: destination))
}

private func portRenamed(
  _ id: jack_port_id_t, _ old: UnsafePointer<CChar>?, _ new: UnsafePointer<CChar>?, _ argument: UnsafeMutableRawPointer?
) {
  guard let session = session(argument), let old, let new else { return }
  session.notices.add(.renamed(from: String(cString: old), to: String(cString: new)))
}

private func latencyAsked(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {
  guard let session = session(argument) else { return }
  session.answerLatencies(mode)
  session.notices.areLatenciesAsked.store(true, ordering: .releasing)
  session.notices.wake()
}
