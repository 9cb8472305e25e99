import BacklineDSP

/// A convolver's response is freed with its unit; nothing keeps it from outside.
extension ConvolverControl: UnitControl {
  public func end() {}
  public var underruns: Int { 0 }
}
