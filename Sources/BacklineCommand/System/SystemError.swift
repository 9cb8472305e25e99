import Glibc

/// What the system says about a failure.
enum SystemError {
  static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
