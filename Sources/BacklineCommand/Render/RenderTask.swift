import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOffline
import Glibc
import Synchronization

/// One input on its way to one output.
struct RenderTask: Sendable {
  let input: String
  let output: String
  let container: SoundContainer
  let options: RenderOptions
  let graph: GraphDescription?

  /// What has to be rendered, in this order: one job, or one a track of a movie that has sound. Opens the input, and makes
  /// nothing yet.
  func jobs() throws(OfflineError) -> [OfflineJob] {
    guard let movie = options.movie(for: output) else { return [try job()] }
    if StagedFile.isSame(input, asPath: output) {
      throw OfflineError(.cannotCreate, "\(output) is the input itself: give the output another name")
    }
    let count = try MovieSource.trackCounts(path: input).sounds
    let numbers = options.tracks.isEmpty ? Array(1...max(1, count)) : options.tracks
    let target = MovieOutput(
      source: input, path: output, container: movie, trackCount: numbers.count, replacing: options.overwrites)
    var jobs: [OfflineJob] = []
    for number in numbers {
      let source = try MovieSource(path: input, soundTrack: number)
      jobs.append(try finished(converted(source), normalized(target.destination(for: source))))
    }
    return jobs
  }

  private func job() throws(OfflineError) -> OfflineJob {
    if let replay = options.replay {
      var job = try CaptureReplay.job(CaptureFolder(replay), destination: destination(.float32, SoundFileMetadata()))
      job.blockFrames = options.maxFrames
      job.threads = options.renderThreads
      return job
    }
    let source: any OfflineSource
    let preferred: SampleFormat?
    var metadata = SoundFileMetadata()
    if input == "-" {
      let stream = try StreamSource(descriptor: STDIN_FILENO)
      preferred = stream.sampleFormat
      source = try converted(stream)
    } else if MovieContainer(ofFileNamed: input) != nil {
      preferred = nil
      source = try converted(MovieSource(path: input, soundTrack: options.tracks.first ?? 1))
    } else {
      let file = try FileSource(path: input, sampleRate: options.rate)
      if output != "-" && file.isFile(at: output) {
        throw OfflineError(.cannotCreate, "\(output) is the input itself: give the output another name")
      }
      preferred = file.sampleFormat
      metadata = file.metadata
      source = file
    }
    return try finished(source, destination(preferred, metadata))
  }

  /// A job with all that was asked for.
  private func finished(
    _ source: any OfflineSource, _ destination: any OfflineDestination
  ) throws(OfflineError) -> OfflineJob {
    var job = OfflineJob(source: source, destination: destination, graph: graph)
    job.tail = options.tail
    job.blockFrames = options.maxFrames
    job.threads = options.renderThreads
    let failure = MediaFailure()
    let media = MediaService.synchronous { _, error in failure.note(error) }
    job.media = media
    job.mediaFailure = { failure.error }
    if let path = options.events {
      let events = try EventFile(path: path, sampleRate: source.sampleRate)
      job.script = { engine throws(OfflineError) in
        do throws(EngineError) {
          return EventScript(events, try ScriptedCommands(engine, media: media))
        } catch {
          throw OfflineError(error)
        }
      }
    }
    return job
  }

  private func converted(_ source: any OfflineSource) throws(OfflineError) -> any OfflineSource {
    guard let rate = options.rate, rate != source.sampleRate else { return source }
    return try ConvertedSource(source, sampleRate: rate)
  }

  private func destination(
    _ preferred: SampleFormat?, _ metadata: SoundFileMetadata
  ) -> any OfflineDestination {
    let destination: any OfflineDestination
    if output == "-" {
      destination = StreamDestination(
        descriptor: STDOUT_FILENO, sampleFormat: options.sampleFormat ?? preferred ?? .float32)
    } else {
      destination = FileDestination(
        path: output, container: container, sampleFormat: options.sampleFormat, preferring: preferred,
        metadata: metadata, replacing: options.overwrites)
    }
    return normalized(destination)
  }

  private func normalized(_ destination: any OfflineDestination) -> any OfflineDestination {
    var folder = "/tmp"
    if output != "-" {
      folder = output.lastIndex(of: "/").map { $0 == output.startIndex ? "/" : String(output[..<$0]) } ?? "."
    }
    guard let loudness = options.loudness else { return destination }
    return NormalizedDestination(destination, loudness: loudness, folder: folder)
  }
}

extension RenderTask {
  /// The tasks of a command line.
  static func tasks(_ options: RenderOptions, graph: GraphDescription?) throws(CommandError) -> [RenderTask] {
    if !options.isBatch {
      let container = options.isMovie ? .wav : try options.outputContainer(for: options.output)
      return [
        RenderTask(
          input: options.replay ?? options.inputs[0], output: options.output, container: container, options: options,
          graph: graph)
      ]
    }
    var tasks: [RenderTask] = []
    var taken: Set<String> = []
    for input in try files(options.inputs) {
      let container = options.container ?? SoundContainer(ofFileNamed: input) ?? .wav
      try options.checkPair(container)
      let stem = stem(of: input)
      var name = "\(stem).\(container.fileEnding)"
      var number = 2
      while !taken.insert(name.lowercased()).inserted {
        name = "\(stem)-\(number).\(container.fileEnding)"
        number += 1
      }
      let folder = options.output.hasSuffix("/") ? options.output : options.output + "/"
      tasks.append(
        RenderTask(input: input, output: folder + name, container: container, options: options, graph: graph))
    }
    if mkdir(options.output, 0o777) != 0 {
      let code = errno
      if !RenderOptions.isFolder(options.output) {
        throw CommandError(
          .cannotCreate, "the folder '\(options.output)' for a batch cannot be made: \(SystemError.text(code))")
      }
    }
    return tasks
  }

  private static func stem(of path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? "sound"
    guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return file }
    return String(file[..<dot])
  }

  /// The inputs, with the sound files of a folder in its place, sorted.
  private static func files(_ inputs: [String]) throws(CommandError) -> [String] {
    var files: [String] = []
    for input in inputs {
      guard RenderOptions.isFolder(input) else {
        files.append(input)
        continue
      }
      guard let directory = opendir(input) else {
        throw CommandError(.inputMissing, "the folder '\(input)' cannot be read")
      }
      defer { closedir(directory) }
      var names: [String] = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let path = (input.hasSuffix("/") ? input : input + "/") + name
        if !name.hasPrefix("."), SoundContainer(ofFileNamed: name) != nil, !RenderOptions.isFolder(path) {
          names.append(path)
        }
      }
      if names.isEmpty { throw CommandError(.inputMissing, "there is no sound file in the folder '\(input)'") }
      files += names.sorted()
    }
    return files
  }
}

/// The first file of a player that could not be read on.
final class MediaFailure: Sendable {
  private let first = Mutex<EngineError?>(nil)

  var error: EngineError? { first.withLock { $0 } }

  func note(_ error: EngineError) { first.withLock { if $0 == nil { $0 = error } } }
}
