import Glibc

/// Why a measurement could not be made, in a sentence.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// A system call that has failed, with its reason.
  static func system(_ what: String, _ code: Int32 = errno) -> BenchError {
    BenchError("\(what): \(String(cString: strerror(code)))")
  }
}
