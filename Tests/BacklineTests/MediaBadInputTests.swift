import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import Backline

/// What may be wrong with what comes, and with what is written to.
@Suite("Media writer, bad input")
struct MediaBadInputTests {
  private static let rate = 48_000

  private func movie(
    _ clip: MediaClip, _ name: String = "out.mov", sound: Bool = true
  ) throws -> (
    writer: MediaWriter, pictures: MediaWriter.Receiver, sound: MediaWriter.Receiver?, samples: [MediaSample]
  ) {
    try clip.makeClip()
    let (formats, samples) = try clip.samples()
    let writer = try MediaWriter(path: clip.file(name), container: .mov)
    let pictures = try writer.receiver(for: MediaWriter.Input(formats[0]))
    let settings = AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1)
    let receiver = sound ? try writer.receiver(for: MediaWriter.Input(settings)) : nil
    try writer.start()
    writer.startSession(at: .zero)
    return (writer, pictures, receiver, samples[0])
  }

  private static func tone(_ start: Int, _ count: Int) -> MediaSample {
    MediaSample(
      sound: (start..<start + count).map { Float(0.3 * sin(Double($0) / 9)) }, sampleRate: rate, channelCount: 1,
      at: MediaTime(value: Int64(start), timescale: Int32(rate)))
  }

  /// That a movie reads back with its tracks and length, its times rising in each track, and decodes from first to last.
  private func check(_ clip: MediaClip, _ name: String, types: [MediaType], seconds: Double) throws {
    let (formats, samples) = try clip.samples(name)
    #expect(formats.map(\.mediaType) == types)
    for track in samples {
      let times = track.map(\.decodeTime)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
    let length = try #require(Double(try clip.probe(name, "format=duration").first ?? ""))
    #expect(abs(length - seconds) < 0.001, "\(length) s")
    try clip.checkDecoding(name)
  }

  private func code(_ body: () async throws -> Void) async -> MediaError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? MediaError)?.code
    }
  }

  @Test("one input of pictures alone is a movie with all of them")
  func oneVideoInput() async throws {
    let clip = try MediaClip()
    let (writer, pictures, _, samples) = try movie(clip, sound: false)
    for sample in samples { try await pictures.append(sample) }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    try check(clip, "out.mov", types: [.video], seconds: 2)
    #expect(try clip.samples("out.mov").samples[0].count == samples.count)
  }

  @Test("sound and pictures that are fed by two tasks come out together, to the frame")
  func synchronisedTracks() async throws {
    let clip = try MediaClip()
    let (writer, pictures, sound, samples) = try movie(clip)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for sample in samples { try await pictures.append(sample) }
        pictures.finish()
      }
      group.addTask {
        for start in stride(from: 0, to: 96_000, by: 480) { try await sound?.append(Self.tone(start, 480)) }
        sound?.finish()
      }
      try await group.waitForAll()
    }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    try check(clip, "out.mov", types: [.video, .audio], seconds: 2)
    let copy = try clip.samples("out.mov").samples
    #expect(copy[0].map(\.presentationTime) == samples.map(\.presentationTime))
    #expect(try clip.sound("out.mov")[0].count == 96_000 && copy[1].first?.presentationTime == .zero)
  }

  @Test("an empty source is told, and leaves nothing", arguments: [MediaWriter.Container.mov, .wav])
  func emptySource(container: MediaWriter.Container) async throws {
    let clip = try MediaClip()
    let writer = try MediaWriter(path: clip.file("out"), container: container)
    let receiver = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    writer.startSession(at: .zero)
    receiver.finish()
    await writer.finishWriting()
    #expect(writer.status == .failed && writer.error?.code == .empty)
    #expect(try clip.names == [])
  }

  @Test(
    "a start offset is applied once: at 3 s, before the first sample, and within (U-81)",
    arguments: [(3, 3.0, 0.0), (0, 6.0, 3.0), (5, 1.0, 0.0)])
  func startOffset(origin: Int64, seconds: Double, first: Double) async throws {
    let clip = try MediaClip()
    let writer = try MediaWriter(path: clip.file("out.mov"), container: .mov)
    let settings = MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1))
    let receivers = [try writer.receiver(for: settings), try writer.receiver(for: settings)]
    try writer.start()
    writer.startSession(at: MediaTime(value: origin, timescale: 1))
    // Three seconds from 3 s on; what is refused is told.
    var taken = 0
    for start in stride(from: 3 * Self.rate, to: 6 * Self.rate, by: 4_800) {
      for receiver in receivers {
        let refusal = await code { try await receiver.append(Self.tone(start, 4_800)) }
        #expect(refusal == nil || refusal == .outsideSession)
        if refusal == nil { taken += 4_800 }
      }
    }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    let times = try clip.probe("out.mov", "stream=start_time").compactMap(Double.init)
    #expect(times == [first, first])
    for track in 0..<2 {
      #expect(try clip.sound("out.mov", track: track)[0].count == Int(seconds * Double(Self.rate)))
    }
    #expect(Double(taken) / 2 == (seconds - first) * Double(Self.rate))
  }

  @Test(
    "a track that begins 750 ms after another does so to the frame, whoever is delivered first (U-82)",
    arguments: [0, 1])
  func lateTrack(firstDelivered: Int) async throws {
    let clip = try MediaClip()
    let writer = try MediaWriter(path: clip.file("out.mov"), container: .mov)
    let settings = MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1))
    let receivers = [try writer.receiver(for: settings), try writer.receiver(for: settings)]
    try writer.start()
    let origin = MediaTime(value: 1_234_567, timescale: 48_000)
    writer.startSession(at: origin)
    let times = [origin, origin + MediaTime(value: 36_000, timescale: 48_000)]
    for track in [firstDelivered, 1 - firstDelivered] {
      var sample = Self.tone(0, 48_000)
      sample.presentationTime = times[track]
      try await receivers[track].append(sample)
    }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    let samples = try clip.samples("out.mov").samples
    #expect(samples[0].first?.presentationTime == .zero)
    #expect(samples[1].first?.presentationTime == MediaTime(value: 36_000, timescale: 48_000))
  }

  @Test("pictures of uneven length keep every time")
  func variableFrameRate() async throws {
    let clip = try MediaClip()
    let (writer, pictures, _, samples) = try movie(clip, sound: false)
    var time = MediaTime.zero
    var times: [MediaTime] = []
    for (index, sample) in samples.enumerated() {
      var moved = sample
      // In a scale that holds them all: 12 800 units a second.
      moved.presentationTime = time
      moved.decodeTime = time
      moved.duration = MediaTime(value: Int64(200 + index * 37 % 900), timescale: 12_800)
      times.append(time)
      time = time + moved.duration
      try await pictures.append(moved)
    }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try clip.samples("out.mov").samples[0].map(\.presentationTime) == times)
    try check(clip, "out.mov", types: [.video], seconds: time.seconds)
  }

  @Test(
    "a full disk fails the writer with a reason, leaves nothing, and the next one works",
    .enabled(if: SmallDisk.isPossible), arguments: [MediaWriter.Container.mov, .matroska, .wav, .flac])
  func fullDisk(container: MediaWriter.Container) async throws {
    let clip = try MediaClip()
    let disk = try SmallDisk(clip.file("disk"), megabytes: 1)
    let settings = AudioSettings(container == .flac ? .flac : .pcm, sampleRate: Self.rate, channelCount: 1)
    func write(_ seconds: Int) async throws -> MediaWriter {
      let writer = try MediaWriter(path: disk.path + "/out", container: container)
      let receiver = try writer.receiver(for: MediaWriter.Input(settings))
      try writer.start()
      writer.startSession(at: .zero)
      var seed: UInt32 = 1
      for second in 0..<seconds {
        let noise = (0..<Self.rate).map { _ in
          seed = seed &* 1_664_525 &+ 1_013_904_223
          return Float(Int32(bitPattern: seed)) * 0x1p-31
        }
        let time = MediaTime(value: Int64(second), timescale: 1)
        do {
          try await receiver.append(MediaSample(sound: noise, sampleRate: Self.rate, channelCount: 1, at: time))
        } catch {
          #expect((error as? MediaError)?.code == .failed)
          break
        }
      }
      await writer.finishWriting()
      return writer
    }
    let full = try await write(60)
    #expect(full.status == .failed)
    #expect(full.error?.message.lowercased().contains("no space") == true, "\(String(describing: full.error))")
    #expect(await Eventually.holds { disk.names == [] })
    let next = try await write(1)
    #expect(next.status == .completed && disk.names == ["out"])
  }

  @Test("whoever is suspended when writing is cancelled goes on with that error, at once, and nothing is left")
  func cancelWhileSuspended() async throws {
    let clip = try MediaClip()
    let (writer, pictures, _, samples) = try movie(clip, sound: false)
    let gate = Semaphore()
    writer.holdUp { gate.wait() }
    let suspended = Task { await code { try await pictures.append(samples[0]) } }
    try await Task.sleep(nanoseconds: 20_000_000)
    writer.cancelWriting()
    // The disk is still stuck.
    #expect(await suspended.value == .cancelled)
    #expect(writer.status == .cancelled)
    gate.signal()
    await writer.finishWriting()
    #expect(writer.status == .cancelled && writer.error == nil)
    #expect(await Eventually.holds { (try? clip.names) == ["in.mov"] })
  }

  @Test("a file that is broken while it is finished is not published, and says so")
  func failureDuringFinalization() async throws {
    let clip = try MediaClip()
    let (writer, pictures, _, samples) = try movie(clip, sound: false)
    for sample in samples { try await pictures.append(sample) }
    let staged = try #require(try clip.names.first { $0.hasPrefix(".backline-") })
    // Somebody takes the file away and puts another there: what is read back is not what was written.
    try FileManager.default.removeItem(atPath: clip.file(staged))
    try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: clip.file(staged)))
    await writer.finishWriting()
    #expect(writer.status == .failed && writer.error?.code == .failed)
    #expect(try !clip.names.contains("out.mov"))
  }

  @Test("a writer that is finished while somebody still appends has what was taken by then, and refuses the rest")
  func prematureFinish() async throws {
    let clip = try MediaClip()
    let (writer, pictures, _, samples) = try movie(clip, sound: false)
    let producer = Task {
      var taken = 0
      for sample in samples {
        if await code({ try await pictures.append(sample) }) != nil { break }
        taken += 1
      }
      return taken
    }
    while try clip.names.count < 2 { await Task.yield() }
    await writer.finishWriting()
    let taken = await producer.value
    if taken > 0 {
      #expect(writer.status == .completed)
      #expect(try clip.samples("out.mov").samples[0].count == taken)
    } else {
      #expect(writer.error?.code == .empty)
    }
    #expect(await code { try await pictures.append(samples[samples.count - 1]) } != nil)
  }

  @Test("tracks that nobody has finished are finished with the writer")
  func missingFinish() async throws {
    let clip = try MediaClip()
    let (writer, pictures, sound, samples) = try movie(clip)
    for sample in samples { try await pictures.append(sample) }
    try await sound?.append(Self.tone(0, 96_000))
    await writer.finishWriting()
    #expect(writer.status == .completed)
    try check(clip, "out.mov", types: [.video, .audio], seconds: 2)
  }

  @Test("nothing is taken after a track's finish, nor after the writer's, whose end is final")
  func appendAfterFinish() async throws {
    let clip = try MediaClip()
    let (writer, pictures, _, samples) = try movie(clip, sound: false)
    try await pictures.append(samples[0])
    pictures.finish()
    #expect(await code { try await pictures.append(samples[1]) } == .finished)
    #expect(throws: MediaError.self) { try pictures.appendImmediately(samples[1]) }
    await writer.finishWriting()
    await writer.finishWriting()
    writer.cancelWriting()
    #expect(writer.status == .completed && writer.error == nil, "one end, the first")
    #expect(await code { try await pictures.append(samples[1]) } == .finished)
    #expect(throws: MediaError.self) { try writer.start() }
    #expect(try clip.names == ["in.mov", "out.mov"])
  }

  @Test("two writers to one destination: the first to finish has it, the other fails")
  func twoWriters() async throws {
    let clip = try MediaClip()
    let settings = MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1))
    var writers: [(writer: MediaWriter, receiver: MediaWriter.Receiver)] = []
    for _ in 0..<2 {
      let writer = try MediaWriter(path: clip.file("out.wav"), container: .wav)
      writers.append((writer, try writer.receiver(for: settings)))
      try writer.start()
      writer.startSession(at: .zero)
    }
    for (index, (writer, receiver)) in writers.enumerated() {
      try await receiver.append(Self.tone(0, 1_000 + index))
      await writer.finishWriting()
    }
    #expect(writers.map(\.writer.status) == [.completed, .failed])
    #expect(try clip.soundFile("out.wav")[0].count == 1_000)
    #expect(try clip.names == ["out.wav"])
  }

  @Test("sound and pictures whose times do not rise are refused one by one, and harm nothing")
  func nonMonotonicTimes() async throws {
    let clip = try MediaClip()
    let (writer, pictures, sound, samples) = try movie(clip)
    try await pictures.append(samples[0])
    try await pictures.append(samples[1])
    #expect(await code { try await pictures.append(samples[0]) } == .notMonotonic)
    try await sound?.append(Self.tone(0, 4_800))
    #expect(await code { try await sound?.append(Self.tone(4_799, 4_800)) } == .notMonotonic)
    try await sound?.append(Self.tone(4_800, 4_800))
    for sample in samples.dropFirst(2) { try await pictures.append(sample) }
    try await sound?.append(Self.tone(9_600, 86_400))
    await writer.finishWriting()
    try check(clip, "out.mov", types: [.video, .audio], seconds: 2)
  }

  @Test("a stuck disk holds a bounded number of bytes, takes no more, and everything goes on when it does")
  func stuckDisk() async throws {
    let clip = try MediaClip()
    let writer = try MediaWriter(path: clip.file("out.wav"), container: .wav)
    let receiver = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    writer.startSession(at: .zero)
    let gate = Semaphore()
    writer.holdUp { gate.wait() }
    var taken = 0
    while try receiver.appendImmediately(Self.tone(taken * Self.rate, Self.rate)) {
      taken += 1
      if taken > 100 { break }
    }
    #expect(taken * Self.rate * 4 <= MediaWriter.pendingLimit && taken > 10, "\(taken) s")
    gate.signal()
    // Suspends until the disk has gone on.
    try await receiver.append(Self.tone(taken * Self.rate, Self.rate))
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try clip.soundFile("out.wav")[0].count == (taken + 1) * Self.rate)
  }

  @Test("a track that waits while another is fed in real time is told, and costs bounded memory (U-83)")
  func unfedTrack() async throws {
    let clip = try MediaClip()
    let writer = try MediaWriter(
      path: clip.file("out.mov"), container: .mov, maximumImbalance: MediaTime(value: 90, timescale: 1))
    let settings = MediaWriter.Input(AudioSettings(.pcm, sampleFormat: .int16, sampleRate: 8_000, channelCount: 1))
    let fed = try writer.receiver(for: settings)
    let unfed = try writer.receiver(for: settings)
    _ = unfed
    try writer.start()
    writer.startSession(at: .zero)
    var seconds: Int64 = 0
    let refusal = await code {
      while seconds < 120 {
        let silence = [Float](repeating: 0.25, count: 8_000)
        try await fed.append(
          MediaSample(
            sound: silence, sampleRate: 8_000, channelCount: 1, at: MediaTime(value: seconds, timescale: 1)))
        seconds += 1
        if seconds == 10 { #expect(writer.waitingTracks == [1]) }
      }
    }
    #expect(refusal == .imbalance && seconds == 90)
    #expect(writer.status == .failed)
    await writer.finishWriting()
    #expect(await Eventually.holds { (try? clip.names) == [] })
  }

  @Test("a day at a clock 50 ppm fast: tracks stamped by frames and by their sums end together (U-85)")
  func aDay() async throws {
    let clip = try MediaClip()
    let writer = try MediaWriter(path: clip.file("out.mov"), container: .mov)
    let settings = MediaWriter.Input(AudioSettings(.pcm, sampleFormat: .int16, sampleRate: Self.rate, channelCount: 1))
    let receivers = [try writer.receiver(for: settings), try writer.receiver(for: settings)]
    try writer.start()
    // 24 h of 48 002.4 frames a second: the session begins that many frames after the engine.
    let day: Int64 = 86_400 * 480_024 / 10
    writer.startSession(at: MediaTime(value: day, timescale: 48_000))
    var sum = MediaTime(value: day, timescale: 48_000)
    for block in 0..<100 {
      var byFrames = Self.tone(block * 480, 480), bySum = byFrames
      byFrames.presentationTime = MediaTime(value: day + Int64(block) * 480, timescale: 48_000)
      bySum.presentationTime = sum
      sum = sum + MediaTime(value: 1, timescale: 100)
      try await receivers[0].append(byFrames)
      try await receivers[1].append(bySum)
    }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    let sounds = try (0..<2).map { try clip.sound("out.mov", track: $0)[0] }
    #expect(sounds[0].count == 48_000 && sounds[0] == sounds[1])
    // A day of tenths of milliseconds added one by one has no error.
    var total = MediaTime.zero
    for _ in 0..<864_000 { total = total + MediaTime(value: 4_801, timescale: 48_000) }
    #expect(total == MediaTime(value: 4_801 * 864_000, timescale: 48_000))
  }
}
