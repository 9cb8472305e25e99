import BacklineTestSupport
import Glibc
import Synchronization
import Testing

@testable import BacklineCommand

@Suite("The doctor")
struct CommandLineDoctorTests {
  private static let well = DoctorCommand.Senses(
    rights: {
      RealtimeRights(
        priorityLimit: 95, isGranted: true, memoryLockLimit: nil, isInAudioGroup: true, isSuperuser: false)
    }, system: { [] }, jackLibrary: { .ok("jackLibrary", "there") },
    jack: { _ in
      .found(
        JACKServerFacts(
          sampleRate: 48_000, period: 128, isRealtime: true, captureCount: 2, playbackCount: 4, portCount: 9))
    }, port: { _ in .free })

  @Test("where all is well every line is ok and the exit code 0")
  func well() {
    let outcome = CommandOutcome("doctor", commands: [DoctorCommand.command(Self.well)])
    #expect(outcome.code == .done)
    #expect(outcome.output.contains("48000 Hz, period 128 frames (2.7 ms), 2 inputs and 4 outputs"))
    #expect(!outcome.output.contains("warning") && !outcome.output.contains("problem"))
  }

  @Test("without a server the exit code is 69, and the line says how to start one")
  func noServer() {
    var senses = Self.well
    senses.jack = { _ in .noServer }
    let outcome = CommandOutcome("doctor", "--server", "stage", commands: [DoctorCommand.command(senses)])
    #expect(outcome.code == .unavailable)
    #expect(outcome.output.contains("problem  no JACK server 'stage' runs\n"))
    #expect(outcome.output.contains("→ start one"))
    #expect(outcome.errors.isEmpty)
  }

  @Test("a warning does not fail, and JSON tells the worst")
  func warning() {
    var senses = Self.well
    senses.rights = {
      RealtimeRights(
        priorityLimit: 0, isGranted: false, memoryLockLimit: 65_536, isInAudioGroup: false, isSuperuser: false)
    }
    let outcome = CommandOutcome("doctor", "--json", commands: [DoctorCommand.command(senses)])
    #expect(outcome.code == .done)
    #expect(
      outcome.output.hasPrefix("{\"status\":\"warning\",\"checks\":[{\"name\":\"realtime\",\"level\":\"warning\""))
    #expect(outcome.output.contains("rtprio 95"))
    #expect(outcome.output.contains("64 KiB of memory can be locked"))
    #expect(outcome.output.contains("usermod -aG audio"))
  }

  @Test("a port taken by another program is a problem, by a rack not")
  func port() {
    #expect(OSCPortProbe.taken.finding(port: 9950).level == .problem)
    #expect(
      OSCPortProbe.rack("0.1.0").finding(port: 9950) == .ok("oscPort", "a rack of version 0.1.0 listens on port 9950"))
    #expect(OSCPortProbe.failed("no").finding(port: 1).level == .problem)
  }

  @Test("a socket on a port makes it taken, over UDP and over TCP", arguments: [true, false])
  func probe(isUDP: Bool) throws {
    let holder = try LoopbackSocket(isUDP: isUDP)
    #expect(OSCPortProbe.probe(port: holder.port, wire: nil) == .taken)
  }

  @Test("a server that hangs is given up at the limit, and one that answers is believed")
  func limit() {
    let isReleased = Atomic(false)
    let hung = JACKProbing.probe(server: nil, timeLimit: 20_000_000) { _ in
      while !isReleased.load(ordering: .acquiring) { usleep(500) }
      return .noServer
    }
    isReleased.store(true, ordering: .releasing)
    #expect(hung == .unanswered)
    #expect(hung.finding(server: nil).level == .problem)
    let asked = JACKProbing.probe(server: "x", timeLimit: 10_000_000_000) { .refused($0 ?? "") }
    #expect(asked == .refused("x"))
    #expect(JACKProbing.libraryFinding().level == .ok)
  }

  @Test("the rights of this process can be read")
  func rights() {
    let rights = RealtimeRights.current()
    #expect(rights.findings.count == 3)
    #expect((rights.findings[0].level == .ok) == rights.isGranted)
  }

  @Test("slow governors are counted, and none is no fault")
  func governor() {
    #expect(SystemChecks.governor([]).level == .ok)
    #expect(SystemChecks.governor(["performance", "performance"]).level == .ok)
    let mixed = SystemChecks.governor(["performance", "powersave", "powersave"])
    #expect(mixed.detail == "2 of 3 processors change their speed with the load (powersave)")
    #expect(mixed.level == .warning)
  }

  @Test(
    "the kernel's preemption is read from its version, its choice and its start",
    arguments: [
      ("#1 SMP PREEMPT_RT Debian", nil, "", true), ("#1 SMP PREEMPT_DYNAMIC Debian", "none voluntary (full)", "", true),
      ("#1 SMP PREEMPT_DYNAMIC Debian", "none (voluntary) full", "", false),
      ("#1 SMP PREEMPT_DYNAMIC Debian", nil, "quiet preempt=full", true),
      ("#1 SMP PREEMPT_DYNAMIC Debian", nil, "preempt=none", false), ("#1 SMP PREEMPT_DYNAMIC Debian", nil, "", true),
      ("#1 SMP Debian", nil, "", false), ("#1 SMP PREEMPT Debian", nil, "", true), ("", nil, "", false),
    ] as [(String, String?, String, Bool)])
  func preemption(version: String, mode: String?, boot: String, isFine: Bool) {
    let finding = SystemChecks.preemption(version: version, mode: mode, bootLine: boot)
    #expect((finding.level == .ok) == isFine, "\(finding.detail)")
  }
}
