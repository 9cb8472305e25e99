import Backline
import BacklineTestSupport
import Foundation
import Testing

@Suite("Media writer")
struct MediaWriterTests {
  private func clip() throws -> MediaClip {
    let clip = try MediaClip()
    try clip.makeClip()
    return clip
  }

  private func writer(
    _ clip: MediaClip, _ formats: [MediaFormat], name: String = "out.mov", imbalance: Int64 = 60
  ) throws -> (MediaWriter, [MediaWriter.Receiver]) {
    let writer = try MediaWriter(
      path: clip.file(name), container: .mov, maximumImbalance: MediaTime(value: imbalance, timescale: 1))
    let receivers = try formats.map { try writer.receiver(for: MediaWriter.Input($0)) }
    try writer.start()
    return (writer, receivers)
  }

  @Test("tracks that are fed at the same time come out whole, with their times, and the name appears at the end")
  func copies() async throws {
    let clip = try clip()
    let (formats, samples) = try clip.samples()
    let (writer, receivers) = try writer(clip, formats)
    #expect(writer.status == .writing)
    writer.startSession(at: .zero)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (receiver, track) in zip(receivers, samples) {
        group.addTask {
          for sample in track { try await receiver.append(sample) }
          receiver.finish()
        }
      }
      try await group.waitForAll()
    }
    #expect(try clip.names.filter { $0.hasPrefix("out") } == [])
    await writer.finishWriting()
    #expect(writer.status == .completed && writer.error == nil)
    let copy = try clip.samples("out.mov")
    #expect(copy.formats.map(\.codec) == formats.map(\.codec))
    for (before, after) in zip(samples, copy.samples) {
      #expect(before.map(\.bytes).joined().elementsEqual(after.map(\.bytes).joined()))
      #expect(before.first?.presentationTime == after.first?.presentationTime)
    }
    #expect(samples[0].map(\.presentationTime) == copy.samples[0].map(\.presentationTime))
    #expect(try clip.names == ["in.mov", "out.mov"])
  }

  @Test("a session's start is the movie's zero: what is before is refused by name, a late track stays late")
  func session() async throws {
    let clip = try clip()
    let (formats, samples) = try clip.samples()
    let shift = MediaTime(value: 3, timescale: 1), late = MediaTime(value: 3, timescale: 4)
    func moved(_ sample: MediaSample, _ time: MediaTime) -> MediaSample {
      var sample = sample
      sample.presentationTime = sample.presentationTime + time
      sample.decodeTime = sample.decodeTime + time
      return sample
    }
    let (writer, receivers) = try writer(clip, formats)
    await #expect(throws: MediaError.self) { try await receivers[0].append(samples[0][0]) }
    #expect(writer.status == .writing, "a sample out of place does not end the writer")
    writer.startSession(at: shift)
    do {
      try await receivers[0].append(samples[0][0])
      Issue.record("a sample before the session was taken")
    } catch {
      #expect((error as? MediaError)?.code == .outsideSession)
    }
    // The sound comes 750 ms after the picture, and is delivered first.
    for sample in samples[1] { try await receivers[1].append(moved(sample, shift + late)) }
    for sample in samples[0] { try await receivers[0].append(moved(sample, shift)) }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    let copy = try clip.samples("out.mov")
    #expect(copy.samples[0].first?.presentationTime == .zero)
    #expect(copy.samples[1].first?.presentationTime == late)
  }

  @Test("times that do not rise, samples after the finish and of another track are refused, and harm nothing")
  func refusals() async throws {
    let clip = try clip()
    let (formats, samples) = try clip.samples()
    let (writer, receivers) = try writer(clip, formats)
    writer.startSession(at: .zero)
    func code(_ receiver: MediaWriter.Receiver, _ sample: MediaSample) async -> MediaError.Code? {
      do {
        try await receiver.append(sample)
        return nil
      } catch {
        return (error as? MediaError)?.code
      }
    }
    #expect(await code(receivers[0], samples[0][1]) == nil)
    #expect(await code(receivers[0], samples[0][1]) == .notMonotonic)
    #expect(await code(receivers[0], samples[0][0]) == .notMonotonic)
    #expect(await code(receivers[0], samples[1][0]) == .wrongTrack)
    #expect(await code(receivers[1], samples[1][0]) == nil)
    receivers[0].finish()
    #expect(await code(receivers[0], samples[0][2]) == .finished)
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(await code(receivers[1], samples[1][1]) == .finished)
    #expect(try clip.samples("out.mov").samples[0].count == 1)
  }

  @Test("a track that never comes is told, costs bounded memory, and fails the writer beyond the bound")
  func imbalance() async throws {
    let clip = try clip()
    let (formats, samples) = try clip.samples()
    let (writer, receivers) = try writer(clip, formats, imbalance: 1)
    writer.startSession(at: .zero)
    var taken = 0
    do {
      for sample in samples[0] {
        try await receivers[0].append(sample)
        taken += 1
      }
      Issue.record("nothing was told")
    } catch {
      #expect((error as? MediaError)?.code == .imbalance)
    }
    #expect(taken == 25, "a second of pictures")
    #expect(writer.status == .failed && writer.error?.code == .imbalance)
    await writer.finishWriting()
    #expect(writer.status == .failed, "the first end is the last")
    #expect(try clip.names == ["in.mov"])
  }

  @Test("cancelling leaves nothing, may be repeated, and is final")
  func cancelling() async throws {
    let clip = try clip()
    let (formats, samples) = try clip.samples()
    let (writer, receivers) = try writer(clip, formats)
    writer.startSession(at: .zero)
    try await receivers[0].append(samples[0][0])
    writer.cancelWriting()
    writer.cancelWriting()
    #expect(writer.status == .cancelled)
    await #expect(throws: MediaError.self) { try await receivers[0].append(samples[0][1]) }
    await writer.finishWriting()
    #expect(writer.status == .cancelled)
    #expect(await Eventually.holds { (try? clip.names) == ["in.mov"] })
  }

  @Test("an empty movie, a taken name, a second writer and a codec that the container does not hold are refused")
  func starts() async throws {
    let clip = try clip()
    let (formats, samples) = try clip.samples()
    let (empty, _) = try writer(clip, formats)
    empty.startSession(at: .zero)
    await empty.finishWriting()
    #expect(empty.status == .failed && empty.error?.code == .empty)
    let taken = try MediaWriter(path: clip.file("in.mov"), container: .mov)
    _ = try taken.receiver(for: MediaWriter.Input(formats[0]))
    #expect(throws: MediaError.self) { try taken.start() }
    #expect(taken.status == .failed)
    #expect(throws: MediaError.self) { try MediaWriter(path: clip.file("x.mov"), container: .mov).start() }
    let mp4 = try MediaWriter(path: clip.file("x.mp4"), container: .mp4)
    #expect(!mp4.canAdd(MediaWriter.Input(formats[1])), "MP4 takes no PCM from this FFmpeg")
    // Two writers for one name: the first to finish has it.
    let (first, firstReceivers) = try writer(clip, [formats[0]])
    let (second, secondReceivers) = try writer(clip, [formats[0]])
    for (writer, receivers) in [(first, firstReceivers), (second, secondReceivers)] {
      writer.startSession(at: .zero)
      try await receivers[0].append(samples[0][0])
      await writer.finishWriting()
    }
    #expect(first.status == .completed && second.status == .failed)
    #expect(try clip.names == ["in.mov", "out.mov"])
  }
}
