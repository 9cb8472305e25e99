import BacklineEngine
import Foundation
import Glibc
import Synchronization
import Testing

@Suite("Control queue, descriptors")
struct WatchWritableTests {
  /// How often handlers were called.
  private final class Counts: Sendable {
    let reads = Mutex(0)
    let writes = Mutex(0)
  }

  private func wait(_ what: Comment, until condition: () -> Bool) {
    for _ in 0..<5_000 {
      if condition() { return }
      usleep(2_000)
    }
    Issue.record(what)
  }

  @Test("a full descriptor is reported once there is room, beside being watched for reading, until taken back")
  func writable() throws {
    let executor = try ControlExecutor()
    defer { executor.shutdown() }
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let near = pair[0]
    let far = pair[1]
    for descriptor in pair { #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0) }
    defer { for descriptor in pair { close(descriptor) } }
    var block = [UInt8](repeating: 1, count: 4096)
    while write(near, block, block.count) > 0 {}

    let counts = Counts()
    executor.watch(near) {
      var byte: UInt8 = 0
      if read(near, &byte, 1) == 1 { counts.reads.withLock { $0 += 1 } }
    }
    executor.watchWritable(near) {
      executor.unwatchWritable(near)
      counts.writes.withLock { $0 += 1 }
    }
    #expect(write(far, block, 1) == 1)
    wait("what comes has to be read while there is no room to write") { counts.reads.withLock { $0 } == 1 }
    #expect(counts.writes.withLock { $0 } == 0)
    while read(far, &block, block.count) > 0 {}
    wait("room has to be reported") { counts.writes.withLock { $0 } == 1 }
    #expect(write(far, block, 1) == 1)
    wait("reading has to go on") { counts.reads.withLock { $0 } == 2 }
    #expect(counts.writes.withLock { $0 } == 1)
    executor.unwatch(near)
  }
}
