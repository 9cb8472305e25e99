import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

@Suite("Serial thread")
struct SerialThreadTests {
  @Test("runs jobs in order, timed ones by their time")
  func order() async throws {
    let log = EventLog<Int>()
    let thread = try SerialThread(name: "test")
    thread.run(after: 0.03) { log.append(5) }
    thread.run(after: 0.02) { log.append(4) }
    for number in 1...3 { thread.run { log.append(number) } }
    #expect(await log.first { $0 == 5 } != nil)
    #expect(log.all == [1, 2, 3, 4, 5])
    thread.end()
  }

  @Test("calls its handler when a render thread wakes it")
  func wake() async throws {
    let log = EventLog<Bool>()
    let thread = try SerialThread(name: "test") { log.append(true) }
    backline_wake(thread.wakeDescriptor)
    #expect(await log.first { $0 } == true)
    thread.end()
  }

  @Test("an abandoned thread drops what waits")
  func abandon() async throws {
    let log = EventLog<Int>()
    let release = EventLog<Bool>()
    let thread = try SerialThread(name: "test")
    thread.run {
      log.append(1)
      while release.all.isEmpty { backline_name_thread("test") }
      log.append(2)
    }
    thread.run { log.append(3) }
    #expect(await log.first { $0 == 1 } != nil)
    thread.abandon()
    release.append(true)
    #expect(await log.first { $0 == 2 } != nil)
    #expect(log.all == [1, 2])
  }

  @Test("a thread that has ended keeps nothing of what it was to run")
  func release() async throws {
    final class Held: Sendable {}
    weak var held: Held?
    do {
      let thread = try SerialThread(name: "test")
      let object = Held()
      held = object
      // Whoever is held by a job holds the thread in turn.
      thread.run(after: 1_000) { withExtendedLifetime((object, thread)) {} }
      thread.end()
    }
    #expect(await Eventually.holds { held == nil })
  }
}
