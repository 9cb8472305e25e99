import BacklineEngine

/// What the kernel and the processor are set to; each is a pure function of what a system file says.
enum SystemChecks {
  static func current() -> [DoctorFinding] {
    [
      governor(governors()),
      preemption(
        version: SystemFile.read("/proc/sys/kernel/version") ?? "",
        mode: SystemFile.read("/sys/kernel/debug/sched/preempt"), bootLine: SystemFile.read("/proc/cmdline") ?? ""),
    ]
  }

  /// The scaling governors of the processors, empty where the system does not scale.
  private static func governors() -> [String] {
    let most = 1024
    var found: [String] = []
    for index in 0..<most {
      guard let text = SystemFile.read("/sys/devices/system/cpu/cpu\(index)/cpufreq/scaling_governor") else { break }
      found.append(text)
    }
    return found
  }

  static func governor(_ governors: [String]) -> DoctorFinding {
    let name = "processorGovernor"
    if governors.isEmpty { return .ok(name, "the processor's speed is not changed by this system") }
    let slow = governors.filter { $0 != "performance" }
    guard let first = slow.first else { return .ok(name, "the processor runs at full speed (performance)") }
    return .warning(
      name, "\(slow.count) of \(governors.count) processors change their speed with the load (\(first))",
      "run 'sudo cpupower frequency-set -g performance' before you play")
  }

  /// `version` is the kernel's (`#1 SMP PREEMPT_DYNAMIC ...`), `mode` the present choice among its models where it can be
  /// read (`none voluntary (full)`), `bootLine` what the kernel was started with.
  static func preemption(version: String, mode: String?, bootLine: String) -> DoctorFinding {
    let name = "kernelPreemption"
    let words = version.split(separator: " ")
    if words.contains("PREEMPT_RT") { return .ok(name, "the kernel is a real-time one (PREEMPT_RT)") }
    let advice = "boot with the kernel parameter preempt=full, or install a low-latency or real-time kernel"
    let chosen = mode.flatMap(chosenMode) ?? bootMode(bootLine)
    if let chosen, words.contains("PREEMPT_DYNAMIC") || mode != nil {
      if chosen == "full" || chosen == "lazy" { return .ok(name, "the kernel can be preempted (\(chosen))") }
      return .warning(name, "the kernel is preempted at few places only (\(chosen))", advice)
    }
    if words.contains("PREEMPT_DYNAMIC") {
      return .ok(name, "the kernel's preemption can be chosen (PREEMPT_DYNAMIC); which it is now cannot be read")
    }
    if words.contains("PREEMPT") { return .ok(name, "the kernel can be preempted (PREEMPT)") }
    return .warning(name, "the kernel is not preempted inside, or does not say so", advice)
  }

  /// The word in parentheses.
  private static func chosenMode(_ text: String) -> String? {
    guard let open = text.firstIndex(of: "("), let end = text[open...].firstIndex(of: ")") else { return nil }
    return String(text[text.index(after: open)..<end])
  }

  private static func bootMode(_ line: String) -> String? {
    line.split(separator: " ").last { $0.hasPrefix("preempt=") }.map { String($0.dropFirst("preempt=".count)) }
  }
}
