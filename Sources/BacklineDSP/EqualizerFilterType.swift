/// The shapes of an equalizer's band, in the order of Apple's `AVAudioUnitEQFilterType`.
enum EqualizerFilterType: Int, CaseIterable {
  case parametric, lowPass, highPass, resonantLowPass, resonantHighPass, bandPass, bandStop
  case lowShelf, highShelf, resonantLowShelf, resonantHighShelf

  /// The type of an index; the first for what stands for none.
  @_noLocks
  init(index: Int32) { self = EqualizerFilterType(rawValue: Int(index)) ?? .parametric }

  /// False for the plain passes, which are Butterworth (Q 0.7071), and the plain shelves, whose slope is 1.
  var usesQ: Bool {
    @_noLocks get {
      switch self {
      case .lowPass, .highPass, .lowShelf, .highShelf: false
      default: true
      }
    }
  }
}
