import BacklineMedia

/// A source at another rate, converted as it comes: for those that cannot be read from any place.
public final class ConvertedSource: OfflineSource, @unchecked Sendable {
  // Why unchecked: used by the thread that reads only.

  private static let pieceFrames = 4096

  public let sampleRate: Int
  public let frameCount: Int64?
  public var name: String { source.name }
  public var channelCount: Int { source.channelCount }
  private let source: any OfflineSource
  private var converter: RateConverter
  private let input: UnsafeMutablePointer<Float>
  private var waiting = 0
  private var consumed = 0
  private var isEnded = false

  public init(_ source: any OfflineSource, sampleRate: Int) throws(OfflineError) {
    self.source = source
    self.sampleRate = sampleRate
    frameCount = source.frameCount.map {
      RateConverter.convertedLength(of: $0, from: source.sampleRate, to: sampleRate)
    }
    do throws(RateConversionError) {
      converter = try RateConverter(
        inputRate: source.sampleRate, outputRate: sampleRate, channelCount: source.channelCount)
    } catch {
      throw OfflineError(.badData, "\(source.name) cannot be converted to \(sampleRate) Hz: \(error.message)")
    }
    input = .allocate(capacity: Self.pieceFrames * source.channelCount)
  }

  deinit { input.deallocate() }

  public func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    do {
      while true {
        if waiting == 0 && !isEnded {
          switch try source.read(into: input, count: Self.pieceFrames) {
          case .frames(let frames): (waiting, consumed) = (frames, 0)
          case .notYet: return .notYet
          case .end: isEnded = true
          }
        }
        if isEnded && waiting == 0 {
          let produced = try converter.finish(into: samples, capacity: count)
          return produced > 0 ? .frames(produced) : .end
        }
        let turn = try converter.process(
          input + consumed * channelCount, count: waiting, into: samples, capacity: count)
        waiting -= turn.consumed
        consumed += turn.consumed
        if turn.produced > 0 { return .frames(turn.produced) }
      }
    } catch let error as OfflineError {
      throw error
    } catch {
      throw OfflineError(.internalError, "\(source.name): the rate conversion failed: \(error)")
    }
  }

  public func cancel() { source.cancel() }
}
