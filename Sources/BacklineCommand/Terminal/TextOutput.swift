import Glibc

/// Where a command writes text.
protocol TextOutput: Sendable {
  func write(_ text: String) throws(CommandError)
}

/// A descriptor, written to at once and without a buffer.
struct DescriptorOutput: TextOutput {
  let descriptor: Int32

  static let standard = DescriptorOutput(descriptor: STDOUT_FILENO)
  static let error = DescriptorOutput(descriptor: STDERR_FILENO)

  /// Writes everything, or throws: `outputClosed` where the reader has gone, which needs SIGPIPE to be ignored.
  func write(_ text: String) throws(CommandError) {
    var text = text
    let failure = text.withUTF8 { bytes -> Int32 in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count >= 0 {
          written += count
        } else if errno == EAGAIN {
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&ready, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
    if failure == EPIPE { throw .outputClosed }
    if failure != 0 { throw CommandError(.inputOutput, "cannot write the output: \(SystemError.text(failure))") }
  }
}
