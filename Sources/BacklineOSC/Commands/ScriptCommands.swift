import BacklineEngine

/// Commands that nobody has sent: automation from a file.
extension CommandRouter {
  /// What has no meaning without a sender, or would end what runs the script.
  private static let refused = [
    "/quit", "/subscribe", "/unsubscribe", "/reply", "/sync", "/ping", "/engine/", "/graph/begin", "/graph/commit",
    "/graph/rollback", "/record/", "/id",
  ]

  /// Does messages in order: as one transaction, but for those that stand alone, such as `/preset/load`.
  ///
  /// At `frame` where one is given, else at once. `completion` is called once, on the control queue, with what was refused;
  /// nothing after that has been done.
  public func perform(
    script messages: [OSCMessage], at frame: Int64?, _ completion: @escaping @Sendable (EngineError?) -> Void
  ) {
    do throws(EngineError) {
      let count = messages.prefix { !Self.standsAlone($0.address) }.count
      if count > 0 {
        var requests: [OSCRequest] = []
        for message in messages.prefix(count) { requests.append(try scripted(message)) }
        try ParsedTransaction(requests, self).perform(self, at: frame)
      }
      guard count < messages.count else { return completion(nil) }
      let request = try scripted(messages[count])
      let later = Array(messages[(count + 1)...])
      guard case .alone(let work) = try action(for: request, scope()) else {
        try ParsedTransaction([request], self).perform(self, at: frame)
        return perform(script: later, at: frame, completion)
      }
      work { [self] result in
        engine.executor.schedule(after: 0) { [self] in
          if case .failure(let error) = result { return completion(error) }
          perform(script: later, at: frame, completion)
        }
      }
    } catch {
      completion(error)
    }
  }

  /// True for commands that cannot be part of a transaction.
  private static func standsAlone(_ address: String) -> Bool {
    ["/player/", "/convolver/", "/preset/", "/graph/undo", "/graph/redo", "/tempo"].contains { address.hasPrefix($0) }
  }

  /// True for a command that stands alone and changes what is heard, rather than asking or saving.
  static func isScripted(_ request: OSCRequest) -> Bool {
    if request.address == "/tempo" { return !request.arguments.isEmpty }
    let last = request.address.split(separator: "/").last ?? ""
    return standsAlone(request.address) && !["list", "save", "position", "state"].contains(last)
  }

  private func scripted(_ message: OSCMessage) throws(EngineError) -> OSCRequest {
    if Self.refused.contains(where: { $0.hasSuffix("/") ? message.address.hasPrefix($0) : message.address == $0 }) {
      throw EngineError(.notAllowed, "'\(message.address)' has no place in a list of events")
    }
    return OSCRequest(address: message.address, arguments: message.arguments, peer: OSCPeer(connection: 0), id: nil)
  }
}
