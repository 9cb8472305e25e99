import BacklineRealtime
import CBackline

/// A mixer with one input bus a connection.
///
/// It streams: each source is added to the output as soon as it has been rendered, so that thousands of inputs need one
/// buffer. The parameters of input N are those from `parameters.count + N * inputParameters.count` on. A sum never holds
/// a negative zero, so an input known to be silent may be left out without a change of bits.
public struct Mixer: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case outputVolume }

  public static let description = UnitDescription(
    kind: "mixer", title: "Mixer", summary: "Mixes any number of inputs, each with a volume and a position.",
    inputs: [.init("input", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init("outputVolume", "The volume of the mix: 1 leaves it, 0 is silence.", 0...1, default: 1)
    ],
    growingInputs: MixerStrips.most,
    inputParameters: [
      .init("Volume", "The volume of this input: 1 leaves it, 0 is silence.", 0...1, default: 1),
      .init(
        "Pan", "The balance of this input, from -1 (left only) to 1 (right only): the far side is turned down.", -1...1,
        default: 0),
    ],
    make: { format in UnitInstance(Mixer.self, format) { mixer, count in mixer.pointee.strips.reserve(count) } })

  public static let functions = UnitFunctions(
    render: mixerRender, set: mixerSet, reset: mixerReset, tail: mixerTail, accumulate: mixerAccumulate)

  private var outputVolume = Ramp(1)
  /// True when the output buffers hold a sum of this block.
  private var hasSum = false
  private let strips = MixerStrips()
  /// Frames for which the ramp of a strip may run: those that nobody hears go on all the same.
  private var movingFrames: Int32 = 0

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func accumulate(_ bus: Int, isFirst: Bool, _ block: borrowing RenderBlock) {
    if isFirst { hasSum = false }
    guard let strip = strips.strip(bus) else { return }
    strip.pointee.lastHeard = block.frame
    let count = Int(block.frameCount)
    var start = 0
    if block.inputs.unsafelyUnwrapped[0].isSilent {
      while start < count && !strip.pointee.isSettled {
        strip.pointee.advance()
        start &+= 1
      }
      return
    }
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    while start < count && !strip.pointee.isSettled {
      let gain = strip.pointee.gains
      leftOut[start] = (hasSum ? leftOut[start] : 0) + left[start] * gain.left
      rightOut[start] = (hasSum ? rightOut[start] : 0) + right[start] * gain.right
      strip.pointee.advance()
      start &+= 1
    }
    let rest = count &- start
    let gain = strip.pointee.gains
    if hasSum {
      SampleMath.addToSum(leftOut + start, left + start, by: gain.left, count: rest)
      SampleMath.addToSum(rightOut + start, right + start, by: gain.right, count: rest)
    } else {
      SampleMath.beginSum(leftOut + start, left + start, by: gain.left, count: rest)
      SampleMath.beginSum(rightOut + start, right + start, by: gain.right, count: rest)
      hasSum = true
    }
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.output(0, 0), right = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    if movingFrames > 0 {
      strips.advanceUnheard(at: block.frame, by: count)
      movingFrames &-= min(movingFrames, block.frameCount)
    }
    if !hasSum {
      backline_zero(left, Int64(count))
      backline_zero(right, Int64(count))
      block.outputs.unsafelyUnwrapped[0].isSilent = true
      while start < count && !outputVolume.isSettled {
        outputVolume.advance()
        start &+= 1
      }
      return
    }
    hasSum = false
    while start < count && !outputVolume.isSettled {
      let volume = outputVolume.next()
      left[start] *= volume
      right[start] *= volume
      start &+= 1
    }
    if outputVolume.value == 1 { return }
    SampleMath.scale(left + start, UnsafePointer(left) + start, by: outputVolume.value, count: count &- start)
    SampleMath.scale(right + start, UnsafePointer(right) + start, by: outputVolume.value, count: count &- start)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    let first = Parameter.outputVolume.rawValue &+ 1
    if parameter == Parameter.outputVolume.rawValue {
      outputVolume.move(to: min(1, max(0, value)), over: rampFrames)
    } else if parameter >= first {
      let (bus, parameter) = (parameter &- first).quotientAndRemainder(dividingBy: MixerStrip.parameterCount)
      strips.strip(bus)?.pointee.set(parameter, to: value, over: rampFrames)
      movingFrames = max(movingFrames, rampFrames)
    }
  }

  @_noLocks
  mutating func reset() {
    outputVolume.settle()
    strips.settle()
    movingFrames = 0
    hasSum = false
  }
}

@_noLocks
private func mixerAccumulate(
  _ state: UnsafeMutableRawPointer, _ bus: Int32, _ isFirst: Bool, _ block: UnsafePointer<RenderBlock>
) {
  state.assumingMemoryBound(to: Mixer.self).pointee.accumulate(Int(bus), isFirst: isFirst, block.pointee)
}

@_noLocks
private func mixerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Mixer.self).pointee.render(block.pointee)
}

@_noLocks
private func mixerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Mixer.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func mixerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Mixer.self).pointee.reset()
}

@_noLocks
private func mixerTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
