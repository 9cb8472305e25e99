import CBackline
import Glibc

/// What this user may do for real-time work.
struct RealtimeRights: Equatable, Sendable {
  /// The priority that a render thread asks for where no server tells another.
  static let wantedPriority = 10

  /// The highest priority that is allowed; `nil` for any.
  var priorityLimit: Int?
  /// True where a thread was really given SCHED_FIFO.
  var isGranted: Bool
  /// The bytes that may be locked into memory; `nil` for any number.
  var memoryLockLimit: Int?
  var isInAudioGroup: Bool
  var isSuperuser: Bool

  /// The rights of this process.
  static func current() -> RealtimeRights {
    RealtimeRights(
      priorityLimit: limit(__RLIMIT_RTPRIO), isGranted: isRealtimeGranted(),
      memoryLockLimit: limit(__RLIMIT_MEMLOCK), isInAudioGroup: isMember(of: "audio"),
      isSuperuser: geteuid() == 0)
  }

  var findings: [DoctorFinding] { [scheduling, memoryLock, audioGroup] }

  private var scheduling: DoctorFinding {
    let limit = priorityLimit.map { "up to priority \($0)" } ?? "at any priority"
    if isGranted {
      return .ok(
        "realtime", "real-time scheduling is granted, " + (isSuperuser ? "to this user at any priority" : limit))
    }
    return .warning(
      "realtime", "real-time scheduling is refused (limit \(priorityLimit ?? 0)): the sound may drop out under load",
      "put '@audio - rtprio 95' into /etc/security/limits.d/audio.conf, join the group audio, and log in again")
  }

  private var memoryLock: DoctorFinding {
    guard let limit = memoryLockLimit, !isSuperuser else {
      return .ok("memoryLock", "memory can be locked without limit")
    }
    // JACK locks all memory of its clients where it may; a client's own memory and its libraries come to some 100 MiB.
    let enough = 256 << 20
    let text = "\(limit >> 10) KiB of memory can be locked"
    if limit >= enough { return .ok("memoryLock", text) }
    return .warning(
      "memoryLock", text + ": memory that has been paged out makes the sound drop out",
      "put '@audio - memlock unlimited' into /etc/security/limits.d/audio.conf, and log in again")
  }

  private var audioGroup: DoctorFinding {
    if isInAudioGroup { return .ok("audioGroup", "this user is in the group audio") }
    if isGranted { return .ok("audioGroup", "this user is not in the group audio, and has its rights without it") }
    return .warning(
      "audioGroup", "this user is not in the group audio, which most systems give real-time rights to",
      "run 'sudo usermod -aG audio $USER', and log in again")
  }

  private static func limit(_ resource: __rlimit_resource) -> Int? {
    var limits = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limits) == 0 else { return 0 }
    return limits.rlim_cur >= rlim_t(Int64.max) ? nil : Int(limits.rlim_cur)
  }

  /// Tries it on a thread that ends at once, so that this one keeps its scheduling.
  private static func isRealtimeGranted() -> Bool {
    let result = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
    result.initialize(to: false)
    defer { result.deallocate() }
    var thread = pthread_t()
    guard pthread_create(&thread, nil, tryRealtime, result) == 0 else { return false }
    pthread_join(thread, nil)
    return result.pointee
  }

  private static func isMember(of group: String) -> Bool {
    guard let entry = getgrnam(group) else { return false }
    let wanted = entry.pointee.gr_gid
    if getegid() == wanted { return true }
    let count = getgroups(0, nil)
    guard count > 0 else { return false }
    var groups = [gid_t](repeating: 0, count: Int(count))
    let filled = getgroups(count, &groups)
    return groups.prefix(Int(max(0, filled))).contains(wanted)
  }
}

private func tryRealtime(_ result: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  result?.assumingMemoryBound(to: Bool.self).pointee = backline_set_realtime_priority(
    Int32(RealtimeRights.wantedPriority))
  return nil
}
