import BacklineDSP
import BacklineEngine
import Glibc

/// Presets on disk. Waits for the disk: not for the control queue's thread.
public enum PresetFile {
  /// The preset in a file; one that is not valid is refused with its first problem (`invalidPreset`).
  public static func load(_ path: String, catalog: UnitCatalog) throws(EngineError) -> Preset {
    let bytes = try read(path)
    do {
      return try PresetReader.read(bytes, catalog: catalog)
    } catch {
      throw error.engineError(file: path)
    }
  }

  /// The bytes of a regular file: `notFound`, `ioError`, `limitReached` where it is too long.
  public static func read(_ path: String, limit: Int = PresetLimits().size) throws(EngineError) -> [UInt8] {
    // Why O_NONBLOCK: opening a pipe would wait for its other end.
    let descriptor = FileDescriptor(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY))
    if descriptor.number < 0 {
      if errno == ENOENT || errno == ENOTDIR {
        throw EngineError(.notFound, "there is no file \(quoted(path)); check the path")
      }
      throw failure("cannot be opened", path)
    }
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw failure("cannot be read", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let kind = status.st_mode & S_IFMT == S_IFDIR ? "is a folder" : "is no regular file"
      throw EngineError(.ioError, "\(quoted(path)) \(kind); name a preset file")
    }
    let tooLong = EngineError(.limitReached, "\(quoted(path)) has more than the \(limit) bytes that a preset may have")
    if status.st_size > limit { throw tooLong }
    guard let bytes = descriptor.readAll(expecting: Int(status.st_size), limit: limit + 1) else {
      throw failure("cannot be read", path)
    }
    if bytes.count > limit { throw tooLong }
    return bytes
  }

  /// Saves a preset so that `path` always holds a whole file, the old one or the new one (R12).
  ///
  /// Written beside its destination, synced, read back and compared, then renamed. A link at `path` is followed.
  public static func save(_ preset: Preset, to path: String, catalog: UnitCatalog) throws(EngineError) {
    let bytes = PresetWriter.write(preset, catalog: catalog)
    let limit = PresetLimits().size
    if bytes.count > limit {
      throw EngineError(.limitReached, "the preset would have more than the \(limit) bytes that a file may have")
    }
    try AtomicFile.write(bytes, to: path)
  }

  private static func failure(_ what: String, _ path: String) -> EngineError {
    EngineError(.ioError, "\(quoted(path)) \(what): \(String(cString: strerror(errno)))")
  }
}
