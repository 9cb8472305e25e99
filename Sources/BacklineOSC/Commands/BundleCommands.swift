import BacklineEngine
import CBackline

/// Bundles: many messages as one transaction, applied at one frame or refused whole (R10).
extension CommandRouter {
  /// The farthest that a time tag may lie ahead, in nanoseconds.
  private static let horizon: Int64 = 60_000_000_000
  /// Bundles farther ahead than this are kept here, so that their time becomes a frame by a clock that knows it well.
  private static let heldAhead: Int64 = 1_000_000_000

  func receiveBundle(_ packet: OSCPacketView, from peer: OSCPeer) {
    guard let tag = packet.timeTag else { return }
    do throws(EngineError) {
      var requests: [OSCRequest] = []
      for message in packet.messages {
        if OSCReply.isAnswer(message.address) {
          ignoredAnswers += 1
          continue
        }
        let request = try request(message.message(), peer)
        if isEvent(request) {
          ignoredAnswers += 1
        } else {
          requests.append(request)
        }
      }
      if requests.isEmpty { return }
      if tag == OSCPacket.immediately {
        try ParsedTransaction(requests, self).perform(self, at: nil)
      } else {
        try schedule(requests, due: TimeTag.monotonicTime(of: tag))
      }
    } catch {
      refuse(error, "#bundle", nil, peer)
    }
  }

  private func schedule(_ requests: [OSCRequest], due: Int64) throws(EngineError) {
    let ahead = due - backline_now()
    if ahead > Self.horizon {
      throw EngineError(.outOfRange, "the time tag is \(ahead / 1_000_000_000) s ahead: at most 60 are allowed")
    }
    let parsed = try ParsedTransaction(requests, self)
    let waiting = engine.here { $0.scheduledWaiting } + heldBundles
    if ahead > 0 && waiting + parsed.weight > Engine.scheduledLimit {
      throw EngineError(
        .limitReached, "\(waiting) scheduled commands wait already: at most \(Engine.scheduledLimit) are allowed")
    }
    try parsed.check(self)
    if ahead > Self.heldAhead {
      hold(parsed, due, until: due - Self.heldAhead / 2)
    } else {
      try act(parsed, due)
    }
  }

  private func hold(_ parsed: ParsedTransaction, _ due: Int64, until time: Int64) {
    let weight = parsed.weight
    heldBundles += weight
    engine.executor.schedule(after: Double(max(0, time - backline_now())) * 1e-9) { [weak self] in
      guard let self else { return }
      heldBundles -= weight
      do throws(EngineError) {
        // Understood anew, for the graph may be another one by now.
        try act(ParsedTransaction(parsed.requests, self), due)
      } catch {
        refuse(error, "#bundle", nil, parsed.requests[0].peer)
      }
    }
  }

  /// Gives a bundle to the engine for the frame of its tag.
  private func act(_ parsed: ParsedTransaction, _ due: Int64) throws(EngineError) {
    let ahead = due - backline_now()
    let (frame, current, lead) = engine.here { engine in
      (engine.frame(at: due), engine.currentFrame, Int64(engine.editLead * 1e9))
    }
    guard let frame else {
      // Nothing renders, so that there is no frame: the control queue's own clock has to do.
      if ahead > 0 { hold(parsed, due, until: due) } else { try parsed.perform(self, at: nil) }
      return
    }
    if frame < current {
      lateBundles += 1
      subscriptions.event(OSCMessage("/late", .string(parsed.requests[0].address), .int64(current - frame)))
      try parsed.perform(self, at: nil)
      return
    }
    if parsed.changesGraph && ahead > lead {
      // A plan blocks those behind it until it is taken: it is published as late as is safe.
      hold(parsed, due, until: due - lead)
      return
    }
    try parsed.perform(self, at: frame)
    if !parsed.commands.isEmpty { expectTaken(parsed.requests[0].address, at: frame, current) }
  }

  // MARK: Telling

  private func expectTaken(_ address: String, at frame: Int64, _ current: Int64) {
    if scheduled.count >= Engine.scheduledLimit {
      // What came to nothing, a bypass of a mixer without inputs, is never heard of.
      scheduled = scheduled.filter { $0.key >= current }
    }
    scheduled[frame, default: []].append(address)
  }

  /// A scheduled event has been taken.
  func tellTaken(wanted: Int64, late: Int) {
    for address in scheduled.removeValue(forKey: wanted) ?? [] {
      if late > 0 { subscriptions.event(OSCMessage("/late", .string(address), .int64(Int64(late)))) }
      subscriptions.event(OSCMessage("/taken", .string(address), .int64(wanted + Int64(late))))
    }
  }
}
