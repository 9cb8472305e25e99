/// Lengths of notes, for times and rates that follow the tempo. A beat is a quarter note.
///
/// `D` is a dotted note (half as long again), `T` one of a triplet (two thirds as long). The first choice, `free`, stands
/// for a time or rate of its own.
public enum TempoDivision {
  /// The names, in the order of their indices.
  public static let names = [
    "free", "4/1", "2/1", "1/1", "1/2D", "1/2", "1/2T", "1/4D", "1/4", "1/4T", "1/8D", "1/8", "1/8T", "1/16D", "1/16",
    "1/16T", "1/32",
  ]

  /// The length of a choice in beats; 0 where it follows no tempo.
  @_noLocks
  public static func beats(_ index: Int32) -> Double {
    switch index {
    case 1: 16
    case 2: 8
    case 3: 4
    case 4: 3
    case 5: 2
    case 6: 4.0 / 3
    case 7: 1.5
    case 8: 1
    case 9: 2.0 / 3
    case 10: 0.75
    case 11: 0.5
    case 12: 1.0 / 3
    case 13: 0.375
    case 14: 0.25
    case 15: 1.0 / 6
    case 16: 0.125
    default: 0
    }
  }

  /// The slowest and the fastest tempo in beats a minute.
  public static var tempoRange: ClosedRange<Float> { @_noLocks get { 20...999 } }

  /// The parameter that every unit with a tempo has, always by this name: whoever sets the tempo of the whole rack sets it
  /// on each of them.
  public static let tempo = ParameterDescription(
    "tempo", "The tempo in beats a minute, for what follows it; `/tempo` sets it for the whole rack.", tempoRange,
    default: 120)

  /// The parameter of a choice of note; `name` is what it is called, `summary` what it is for.
  public static func parameter(_ name: String, _ summary: String) -> ParameterDescription {
    .discrete(name, summary, names)
  }
}
