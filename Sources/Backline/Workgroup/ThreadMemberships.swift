import Glibc
import Synchronization

/// Which groups each thread is a member of, the innermost last.
enum ThreadMemberships {
  private struct Entry {
    let id: Int
    let group: ObjectIdentifier
    let kind: Workgroup.Kind
  }

  private struct State {
    var nextID = 1
    var threads: [UInt: [Entry]] = [:]
  }

  private static let state = Mutex(State())

  /// A number for the thread that calls, as long as it lives.
  static var currentThread: UInt { UInt(pthread_self()) }

  /// Enters the calling thread; the membership's number.
  static func join(_ group: Workgroup) throws(WorkgroupError) -> Int {
    let thread = currentThread
    let result: Result<Int, WorkgroupError> = state.withLock { state in
      let entries = state.threads[thread] ?? []
      let isInside = entries.contains { $0.group == ObjectIdentifier(group) || !group.kind.nests(in: $0.kind) }
      if isInside { return .failure(.alreadyMember) }
      let id = state.nextID
      state.nextID += 1
      state.threads[thread, default: []].append(Entry(id: id, group: ObjectIdentifier(group), kind: group.kind))
      return .success(id)
    }
    return try result.get()
  }

  /// Takes the calling thread's membership `id` out, if it is its own and the last one.
  static func leave(_ id: Int, of thread: UInt) throws(WorkgroupError) {
    if thread != currentThread { throw .otherThread }
    let failure: WorkgroupError? = state.withLock { state in
      guard let entries = state.threads[thread], entries.contains(where: { $0.id == id }) else { return .notMember }
      if entries.last?.id != id { return .outOfOrder }
      state.threads[thread] = entries.count == 1 ? nil : Array(entries.dropLast())
      return nil
    }
    if let failure { throw failure }
  }
}
