import BacklineEngine
import BacklineRealtime
import Synchronization

// How what the callbacks have left becomes events. On the event thread.
extension JACKCore {
  /// Looks at what callbacks have left. Called on the event thread whenever one has woken it.
  func collect() {
    guard let session, isOpened, !reported.isLost else { return }
    let notices = session.notices
    if session.isLost { return lose(session) }
    collectValues(notices)
    if session.flags.pointee.hasBegun.load(ordering: .acquiring) && !reported.isBegun { begin(session) }
    let ports = notices.takePorts()
    if !ports.isEmpty { run(session) { _, session in session.handle(ports) } }
    let isGraphChanged = notices.isGraphChanged.exchange(false, ordering: .acquiring)
    if isGraphChanged { reported.latencyPasses = 0 }
    if notices.areLatenciesAsked.exchange(false, ordering: .acquiring) || isGraphChanged { followLatencies(session) }
    if isGraphChanged || !ports.isEmpty { deliver(.portsChanged) }
  }

  /// Has latencies asked for again, once the connections on the server have settled, where the last pass has left any
  /// behind, and only there: what the library is not asked, it cannot hang in.
  private func followLatencies(_ session: JACKSession) {
    if reported.isFollowingLatencies || isClosing { return }
    reported.isFollowingLatencies = true
    events.run(after: 0.05) { [weak self, weak session] in
      guard let self, let session, self.session === session else { return }
      reported.isFollowingLatencies = false
      // Where sound goes round for ever, latencies have no end.
      if reported.isLost || isClosing || reported.latencyPasses >= JACKSession.mostLatencyPasses { return }
      run(session) { core, session in
        guard session.settleLatencies() else { return }
        core.events.run { if core.session === session { core.reported.latencyPasses += 1 } }
      }
    }
  }

  private func collectValues(_ notices: JACKNotices) {
    let period = notices.period.load(ordering: .acquiring)
    if period != 0 && period != reported.period {
      reported.period = period
      deliver(.periodChanged(period))
    }
    let sampleRate = notices.sampleRate.load(ordering: .acquiring)
    if sampleRate != 0 && sampleRate != reported.sampleRate {
      reported.sampleRate = sampleRate
      deliver(.sampleRateChanged(sampleRate))
    }
    let isFreewheeling = notices.isFreewheeling.load(ordering: .acquiring)
    if isFreewheeling != reported.isFreewheeling {
      reported.isFreewheeling = isFreewheeling
      deliver(.freewheel(isFreewheeling))
    }
    let xruns = notices.xruns.load(ordering: .acquiring)
    if xruns != reported.xruns {
      reported.xruns = xruns
      deliver(.xrun)
    }
  }

  /// The first cycle is done. Told when the worker has made the connections and looked at the thread's scheduling.
  private func begin(_ session: JACKSession) {
    reported.isBegun = true
    run(session) { core, session in
      session.readScheduling()
      core.events.run {
        guard core.session === session, !core.reported.isLost else { return }
        core.isRealtime.store(session.isRealtime.load(ordering: .relaxed), ordering: .relaxed)
        core.deliver(.started)
      }
    }
  }

  private func lose(_ session: JACKSession) {
    reported.isLost = true
    JACKClients.shared.lost(session)
    if session.flags.pointee.gate.shut(within: 100_000_000) { record.clock.pointee.reset() }
    connections.memory.withLock { $0.lost() }
    isRealtime.store(false, ordering: .relaxed)
    deliver(.lost(reason: session.notices.reason))
  }
}
