// swift-format-ignore-file
import BacklineAVFAudio

/// The sample of an article on bounded offline rendering on the Mac (seed 000), as it stands but for its import: a file through
/// a reverb into a verified file.
func renderThroughReverb(inputURL: URL, outputURL: URL, configuredTailFrames: AVAudioFrameCount) throws {
let sourceFile = try AVAudioFile(
    forReading: inputURL,
    commonFormat: .pcmFormatFloat32,
    interleaved: false
)
let format = sourceFile.processingFormat
let engine = AVAudioEngine()
let player = AVAudioPlayerNode()
let reverb = AVAudioUnitReverb()

enum RenderFailure: Error {
    case cannotProgress
    case unexpectedInputStarvation
    case engineError
    case invalidBufferFormat
    case incompleteOutput
    case unknownStatus
}

engine.attach(player)
engine.attach(reverb)
reverb.loadFactoryPreset(.mediumHall)
reverb.wetDryMix = 35
try engine.connectNode(player, to: reverb, format: format)
try engine.connectNode(reverb, to: engine.mainMixerNode, format: format)
player.scheduleFile(sourceFile, at: nil)

// Caller-selected, finite tail budget. Use 0 for an input-duration-only render.
let tailFrameCount: AVAudioFrameCount = configuredTailFrames
if tailFrameCount > 0 {
    let tailSilence = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: tailFrameCount)!
    tailSilence.frameLength = tailFrameCount
    guard let channels = tailSilence.floatChannelData else {
        throw RenderFailure.invalidBufferFormat
    }
    for channel in 0..<Int(format.channelCount) {
        channels[channel].update(repeating: 0, count: Int(tailFrameCount))
    }
    // A nil time queues this buffer immediately after the previously scheduled file.
    player.scheduleBuffer(tailSilence, at: nil)
}

let maxFrames: AVAudioFrameCount = 4096
try engine.enableManualRenderingMode(
    .offline,
    format: format,
    maximumFrameCount: maxFrames
)

let buffer = AVAudioPCMBuffer(
    pcmFormat: engine.manualRenderingFormat,
    frameCapacity: engine.manualRenderingMaximumFrameCount
)!
let temporaryDirectoryURL = outputURL.deletingLastPathComponent()
    .appendingPathComponent(".render-\(UUID().uuidString)", isDirectory: true)
var outputFile: AVAudioFile?
defer {
    player.stop()
    engine.stop()
    outputFile?.close()
    try? FileManager.default.removeItem(at: temporaryDirectoryURL)
}

try FileManager.default.createDirectory(
    at: temporaryDirectoryURL,
    withIntermediateDirectories: false
)
let temporaryURL = temporaryDirectoryURL.appendingPathComponent(outputURL.lastPathComponent)
outputFile = try AVAudioFile(
    forWriting: temporaryURL,
    settings: format.settings,
    commonFormat: format.commonFormat,
    interleaved: format.isInterleaved
)
guard let file = outputFile else {
    throw RenderFailure.incompleteOutput
}

try engine.start()
try player.playAudio()

var consecutiveNoProgress = 0
let renderEndFrame = sourceFile.length + AVAudioFramePosition(tailFrameCount)
while engine.manualRenderingSampleTime < renderEndFrame {
    let remaining = renderEndFrame - engine.manualRenderingSampleTime
    let request = AVAudioFrameCount(min(
        remaining,
        AVAudioFramePosition(buffer.frameCapacity)
    ))
    let status = try engine.renderOffline(request, to: buffer)

    // frameLength is the number of frames actually rendered, not request.
    if buffer.frameLength > 0 {
        try file.write(from: buffer)
        consecutiveNoProgress = 0
    }

    switch status {
    case .success:
        guard buffer.frameLength > 0 else {
            throw RenderFailure.cannotProgress
        }
        consecutiveNoProgress = 0
    case .cannotDoInCurrentContext:
        if buffer.frameLength == 0 {
            consecutiveNoProgress += 1
            guard consecutiveNoProgress <= 16 else {
                throw RenderFailure.cannotProgress
            }
        }
        continue
    case .insufficientDataFromInputNode:
        // This player-file graph does not use the engine input node.
        throw RenderFailure.unexpectedInputStarvation
    case .error:
        throw RenderFailure.engineError
    @unknown default:
        throw RenderFailure.unknownStatus
    }
}

guard engine.manualRenderingSampleTime == renderEndFrame,
      file.length == renderEndFrame else {
    throw RenderFailure.incompleteOutput
}

file.close()
outputFile = nil
let verificationFile = try AVAudioFile(forReading: temporaryURL)
guard verificationFile.length == renderEndFrame else {
    throw RenderFailure.incompleteOutput
}
verificationFile.close()

if FileManager.default.fileExists(atPath: outputURL.path) {
    _ = try FileManager.default.replaceItemAt(outputURL, withItemAt: temporaryURL)
} else {
    try FileManager.default.moveItem(at: temporaryURL, to: outputURL)
}
}
