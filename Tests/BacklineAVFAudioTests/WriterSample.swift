// swift-format-ignore-file
import BacklineAVFAudio
import Foundation

/// The sample of an article on writing movies on the Mac (seed 001), as it stands but for its imports.
func writeSingleVideoSample(
    _ sample: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>,
    to destination: URL
) async throws {
    let writer = try AVAssetWriter(url: destination, fileType: .mov)
    let input = AVAssetWriterInput(
        mediaType: .video,
        outputSettings: nil,
        sourceFormatHint: sample.formatDescription
    )
    guard writer.canAdd(input) else { throw WriterFailure.cannotAddInput }

    let receiver = writer.inputReceiver(for: input)
    try writer.start()
    writer.startSession(atSourceTime: sample.presentationTimeStamp)
    try await receiver.append(sample)
    receiver.finish()
    await writer.finishWriting()

    guard writer.status == .completed else {
        throw writer.error ?? WriterFailure.incompleteOutput
    }
}

enum WriterFailure: Error {
    case cannotAddInput
    case incompleteOutput
}
