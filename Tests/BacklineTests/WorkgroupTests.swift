import Backline
import Foundation
import Synchronization
import Testing

@Suite("Workgroups: threads of the caller's that share a deadline")
struct WorkgroupTests {
  /// Runs something on a thread of its own and waits for it.
  private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread {
        body()
        continuation.resume()
      }.start()
    }
  }

  private static func failure(_ body: () throws(WorkgroupError) -> Void) -> WorkgroupError? {
    do throws(WorkgroupError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test("a thread joins once, and leaves by the membership it was given")
  func joinAndLeave() async {
    let group = Workgroup("work", arenaByteCount: 1_000)
    await onThread {
      do throws(WorkgroupError) {
        var membership = try group.join()
        #expect(group.memberCount == 1)
        #expect(membership.arena.count == 1_000)
        #expect(membership.arena.allSatisfy { $0 == 0 })
        #expect(Self.failure { () throws(WorkgroupError) in _ = try group.join() } == .alreadyMember)
        try membership.leave()
        #expect(group.memberCount == 0)
        do throws(WorkgroupError) {
          try membership.leave()
          Issue.record("left twice")
        } catch {
          #expect(error == .notMember)
        }
        var again = try group.join()
        try again.leave()
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test("a membership that is let go of leaves by itself")
  func letGo() async {
    let group = Workgroup("work")
    await onThread {
      do throws(WorkgroupError) {
        _ = try group.join()
        #expect(group.memberCount == 0)
        _ = try group.join()
      } catch {
        Issue.record(error)
      }
    }
    #expect(group.memberCount == 0)
  }

  @Test("a cancelled group takes nobody in, and its members can tell and leave")
  func cancel() async {
    let group = Workgroup("work")
    await onThread {
      do throws(WorkgroupError) {
        var membership = try group.join()
        #expect(!group.isCancelled)
        group.cancel()
        group.cancel()
        #expect(membership.group.isCancelled)
        try membership.leave()
      } catch {
        Issue.record(error)
      }
      #expect(Self.failure { () throws(WorkgroupError) in _ = try group.join() } == .cancelled)
    }
  }

  @Test("a deadline may be joined from within common work, nothing else nests, and what was joined last is left first")
  func nesting() async {
    let common = Workgroup("common"), other = Workgroup("other")
    let deadline = Workgroup("deadline", kind: .deadline), second = Workgroup("second", kind: .deadline)
    await onThread {
      do throws(WorkgroupError) {
        var outer = try common.join()
        #expect(Self.failure { () throws(WorkgroupError) in _ = try other.join() } == .alreadyMember)
        var inner = try deadline.join()
        #expect(Self.failure { () throws(WorkgroupError) in _ = try second.join() } == .alreadyMember)
        do throws(WorkgroupError) {
          try outer.leave()
          Issue.record("left out of order")
        } catch {
          #expect(error == .outOfOrder)
        }
        try inner.leave()
        try outer.leave()
        var alone = try deadline.join()
        #expect(Self.failure { () throws(WorkgroupError) in _ = try common.join() } == .alreadyMember)
        try alone.leave()
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test("as many threads as have a processor beside the render thread are advised, and at least one")
  func advice() {
    let common = Workgroup("common").maximumParallelThreads
    let beside = Workgroup("deadline", kind: .deadline).maximumParallelThreads
    #expect(common >= 1)
    #expect(beside == max(1, common - 1))
  }

  @Test("an interval counts what was started, finished and late")
  func intervals() async {
    let group = Workgroup("reader"), stranger = Workgroup("stranger")
    let interval = WorkInterval(group)
    await onThread {
      do throws(WorkgroupError) {
        var membership = try group.join()
        try interval.start(membership, at: 1_000, deadline: 2_000)
        #expect(Self.failure { () throws(WorkgroupError) in try interval.update(deadline: 500) } == .invalidTimes)
        #expect(try interval.finish(at: 1_900))
        try interval.start(membership, at: 3_000, deadline: 4_000)
        #expect(try !interval.finish(at: 4_001))
        try interval.start(membership, at: 5_000, deadline: 5_500)
        try interval.update(deadline: 7_000)
        #expect(try interval.finish(at: 6_500))
        #expect(interval.counts.started == 3)
        #expect(interval.counts.finished == 3)
        #expect(interval.counts.late == 1)
        #expect(interval.longest == 1_500)
        #expect(Self.failure { () throws(WorkgroupError) in try interval.finish(at: 0) } == .wrongState)
        try membership.leave()
        do throws(WorkgroupError) {
          try interval.start(membership, at: 0, deadline: 1)
          Issue.record("started by one who has left")
        } catch {
          #expect(error == .notMember)
        }
        var strange = try stranger.join()
        do throws(WorkgroupError) {
          try interval.start(strange, at: 0, deadline: 1)
          Issue.record("started by a stranger")
        } catch {
          #expect(error == .notMember)
        }
        try strange.leave()
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test("an engine's group is cancelled when its rendering stops, and the next one is another")
  func engineGroup() throws {
    let engine = try AudioEngine(EngineConfiguration(output: .timer()))
    _ = engine.mainMixerNode
    let first = engine.workgroup
    #expect(first.kind == .deadline)
    try engine.start()
    #expect(engine.workgroup === first)
    #expect(!first.isCancelled)
    engine.stop()
    #expect(first.isCancelled)
    #expect(engine.workgroup !== first)
  }
}
