import Glibc

/// What the system gives this process, for tests that run in a process of their own.
public enum ProcessLimits {
  /// True where a sanitizer is in this process, whose own memory counts, too.
  public static var areBlurred: Bool { dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }

  /// Lets this process take so many bytes of memory beside those that it has; `nil` for as many as there are.
  public static func allowMemory(_ bytes: Int?) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    let pages = Self.pages ?? 0
    limit.rlim_cur = bytes.map { rlim_t(pages * sysconf(Int32(_SC_PAGESIZE)) + $0) } ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
  }

  /// The pages of the process's address space, the first number of /proc/self/statm.
  private static var pages: Int? {
    guard let file = fopen("/proc/self/statm", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return nil }
    return Int(strtol(line, nil, 10))
  }
}
