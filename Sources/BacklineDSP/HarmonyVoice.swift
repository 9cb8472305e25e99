import BacklineRealtime

/// One voice of the harmonizer: its shift, level and place.
struct HarmonyVoice {
  let shift: SpectralShift
  var semitones: Float
  var level: Float
  var pan: Float = 0

  /// The loudness on each side: equal power.
  var gains: SIMD2<Float> {
    @_noLocks get { SIMD2(FastMath.quarterSine(1 - pan), FastMath.quarterSine(1 + pan)) * level }
  }
}
