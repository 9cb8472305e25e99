import BacklineDSP

/// A player lets go of its file when its unit is freed.
extension PlayerControl: UnitControl {
  public func end() { detach() }
  public var underruns: Int { state.underruns }
}
