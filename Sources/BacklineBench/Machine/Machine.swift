import Glibc

/// What the bench runs on.
enum Machine {
  static var description: String {
    let cpu = TextFile.lines("/proc/cpuinfo").first { $0.hasPrefix("model name") }
    let model = cpu?.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "unknown processor"
    var names = utsname()
    uname(&names)
    let release = withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return "\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) x \(model), Linux \(release)"
  }

  /// True where `PATH` has a program of this name.
  static func isInstalled(_ name: String) -> Bool {
    guard let path = getenv("PATH") else { return false }
    return String(cString: path).split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// Datagrams that the kernel has dropped at the UDP sockets of a port since they were opened.
  static func drops(atPort port: UInt16) -> Int {
    TextFile.lines("/proc/net/udp").dropFirst().reduce(0) { sum, line in
      let fields = line.split(separator: " ")
      guard fields.count > 12, let local = fields[1].split(separator: ":").last, UInt16(local, radix: 16) == port else {
        return sum
      }
      return sum + (Int(fields[fields.count - 1]) ?? 0)
    }
  }
}
