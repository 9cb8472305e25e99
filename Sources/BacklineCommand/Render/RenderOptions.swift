import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOffline
import Glibc

/// What `backline render` was asked for, checked as far as that needs no file.
struct RenderOptions: Sendable {
  var inputs: [String]
  var output: String
  var preset: String?
  var settings: [RenderSetting]
  var tail = TailPolicy.none
  var rate: Int?
  var container: SoundContainer?
  /// The kind of movie that was asked for.
  var movie: MovieContainer?
  /// The tracks of a movie that are rendered, counted from 1 among those with sound; all where empty.
  var tracks: [Int] = []
  var sampleFormat: SampleFormat?
  var maxFrames = 4096
  var events: String?
  var replay: String?
  var loudness: Double?
  var jobs: Int?
  /// The threads of each rendering; `nil` chooses.
  var threads: Int?
  var overwrites: Bool
  var json: Bool
  var quiet: Bool

  init(_ arguments: ParsedArguments) throws(CommandError) {
    inputs = arguments.all(.inputs)
    output = arguments[.output] ?? ""
    preset = arguments[.throughPreset]
    settings = []
    for text in arguments.all(.setting) { settings.append(try RenderSetting(text)) }
    if let text = arguments[.tail] {
      guard let tail = TailPolicy(text) else {
        throw .usage("--tail: '\(text)' is none of none, auto and 0 to \(Int(TailPolicy.longest)) seconds")
      }
      self.tail = tail
    }
    rate = arguments.integer(.rate)
    container = arguments[.containerFormat].flatMap { SoundContainer(rawValue: $0) }
    movie = arguments[.containerFormat].flatMap { MovieContainer(rawValue: $0) }
    tracks = try Self.numbers(arguments[.tracks])
    sampleFormat = arguments[.sampleFormat].flatMap { SampleFormat(rawValue: $0) }
    maxFrames = arguments.integer(.maxFrames) ?? maxFrames
    events = arguments[.events]
    if let text = arguments[.normalize] {
      guard let loudness = Double(text), NormalizedDestination.range.contains(loudness) else {
        throw .usage("--normalize: '\(text)' is no loudness from -70 to 0 LUFS")
      }
      self.loudness = loudness
    }
    jobs = arguments.integer(.jobs)
    overwrites = arguments.contains(.overwrite)
    json = arguments.contains(.json)
    quiet = arguments.contains(.quiet)
    threads = arguments.integer(.threads)
    if preset == nil && !settings.isEmpty { throw .usage("--set changes a preset: name one with --preset") }
    replay = arguments[.replay]
    if replay != nil {
      if !inputs.isEmpty { throw .usage("--replay has its input in its folder: name the output only") }
      let others: [OptionDeclaration] = [.throughPreset, .setting, .events, .rate, .tail]
      if let other = others.first(where: { arguments.contains($0) }) {
        throw .usage("\(other.name) has no place beside --replay, which renders what was heard")
      }
    } else if inputs.isEmpty {
      throw .usage("INPUT is missing: \(HelpText.usage(.render))")
    }
    if inputs.contains("-") && inputs.count > 1 { throw .usage("standard input cannot be part of a batch") }
    if isToStandardOutput && inputs.count > 1 {
      throw .usage("a batch needs a folder to write to, not standard output")
    }
    if isMovie {
      let name = inputs.first ?? ""
      if isBatch || name == "-" || output == "-" || replay != nil {
        throw .usage("a movie is rendered from one file to another: name one INPUT and one OUTPUT")
      }
      if sampleFormat != nil {
        throw .usage("--sample-format has no place with a movie: its sound stays as it is kept in the input")
      }
      return
    }
    if !isBatch { try checkPair(try outputContainer(for: output)) }
  }

  /// The words for the kinds of file.
  static let formats = SoundContainer.allCases.map(\.rawValue) + MovieContainer.allCases.map(\.rawValue)

  /// The threads of each rendering: in a batch, renderings side by side have the processors already.
  var renderThreads: RenderThreads {
    if let threads { return .upTo(threads) }
    return isBatch && jobs != 1 ? .one : .fastest
  }

  var isToStandardOutput: Bool { output == "-" }

  /// True where OUTPUT is a folder, or has to be one.
  var isBatch: Bool {
    replay == nil
      && (inputs.count > 1 || output.hasSuffix("/") || Self.isFolder(output) || inputs.contains(where: Self.isFolder))
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// True where the output is a movie.
  var isMovie: Bool { movie(for: output) != nil }

  /// The kind of movie for a path; `nil` where it is none.
  func movie(for path: String) -> MovieContainer? {
    container == nil && path != "-" ? movie ?? MovieContainer(ofFileNamed: path) : nil
  }

  /// `1,3` as numbers.
  private static func numbers(_ text: String?) throws(CommandError) -> [Int] {
    guard let text else { return [] }
    var numbers: [Int] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let number = Int(word), (1...1_000).contains(number), !numbers.contains(number) else {
        throw .usage("--tracks: '\(text)' is no list of different numbers from 1, such as 1,3")
      }
      numbers.append(number)
    }
    return numbers
  }

  /// The kind of file for a path.
  func outputContainer(for path: String) throws(CommandError) -> SoundContainer {
    if path == "-" {
      if let container, container != .wav { throw .usage("standard output takes WAV, not \(container.rawValue)") }
      return .wav
    }
    if let container { return container }
    if let container = SoundContainer(ofFileNamed: path) { return container }
    let names = Self.formats.joined(separator: ", ")
    throw .usage("the ending of '\(path)' says no kind of file: choose one with --format (\(names))")
  }

  /// Refuses what cannot be before anything is opened.
  func checkPair(_ container: SoundContainer) throws(CommandError) {
    do throws(SoundFileWriteError) {
      if let sampleFormat { try SoundFileEncoding.check(container, sampleFormat) }
      if let rate { try SoundFileEncoding.check(container, sampleRate: rate) }
    } catch {
      throw .usage(error.message)
    }
  }
}

/// One `--set NODE.PARAM=VALUE`: split at the first `=`, then the last `.` before it.
struct RenderSetting: Sendable, Equatable {
  let node: String
  let parameter: String
  let value: String

  init(_ text: String) throws(CommandError) {
    guard let equals = text.firstIndex(of: "="), let dot = text[..<equals].lastIndex(of: "."), dot != text.startIndex
    else { throw .usage("--set: '\(text)' is not NODE.PARAM=VALUE") }
    node = String(text[..<dot])
    parameter = String(text[text.index(after: dot)..<equals])
    value = String(text[text.index(after: equals)...])
    if parameter.isEmpty || value.isEmpty { throw .usage("--set: '\(text)' is not NODE.PARAM=VALUE") }
  }

  /// Puts the value into a graph.
  func apply(to graph: inout GraphDescription, catalog: UnitCatalog) throws(CommandError) {
    guard let index = graph.nodes.firstIndex(where: { $0.name == node }), let unit = catalog[graph.nodes[index].kind]
    else {
      throw .usage(
        "--set: the preset has no node '\(node)'\(Suggestion.sentence(for: node, among: graph.nodes.map(\.name)))")
    }
    if parameter == "bypass" {
      guard ["0", "1", "true", "false"].contains(value) else { throw .usage("--set: \(node).bypass is 0 or 1") }
      graph.nodes[index].isBypassed = value == "1" || value == "true"
      return
    }
    guard let place = unit.parameterIndex(named: parameter), let description = unit.parameter(at: place) else {
      let near = unit.nearestParameterName(parameter).map { ": did you mean '\($0)'?" } ?? ""
      throw .usage("--set: '\(node)' (\(unit.kind)) has no parameter '\(parameter)'\(near)")
    }
    do throws(EngineError) {
      let number = try description.value(text: value)
      _ = unit.set(place, to: number, in: &graph.nodes[index].values)
    } catch {
      throw .usage("--set \(node).\(parameter)=\(value): \(error.message)")
    }
  }
}
