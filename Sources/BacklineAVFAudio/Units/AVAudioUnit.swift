import Backline
import Foundation

/// A node that changes sound.
public class AVAudioUnit: AVAudioNode, @unchecked Sendable {
  let unit: UnitNode?

  /// A unit of one of Backline's kinds.
  init(kind: String) {
    unit = try? UnitNode(kind)
    super.init(unit ?? MixerNode())
  }

  init(node: AudioNode) {
    unit = nil
    super.init(node)
  }

  /// The name of the kind, in words.
  public var name: String { unit?.title ?? "" }
  /// Who made it.
  public var manufacturerName: String { "Backline" }

  /// Sets a parameter, held to its range.
  func set(_ parameter: String, _ value: Float) {
    guard let unit, let found = unit.parameters.first(where: { $0.name == parameter }) else { return }
    let held = value >= found.range.lowerBound ? min(value, found.range.upperBound) : found.range.lowerBound
    do { try unit.set(parameter, to: held) } catch { owner?.keep(error) }
  }

  func value(_ parameter: String) -> Float { (try? unit?.value(of: parameter)) ?? 0 }
}

/// A unit with a bypass.
public class AVAudioUnitEffect: AVAudioUnit, @unchecked Sendable {
  /// True lets the sound through as it is.
  public var bypass: Bool {
    get { unit?.isBypassed ?? false }
    set { unit?.isBypassed = newValue }
  }
}
