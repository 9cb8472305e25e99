import BacklineTestSupport
import CBackline
import Glibc
import Testing

@testable import BacklineCommand

@Suite("The program backline")
struct CommandLineProgramTests {
  private func backline(_ arguments: String..., environment: [String: String?] = [:]) throws -> ProcessRunner.Ending {
    try ProcessRunner.run(try BuiltProgram.backline(), arguments, environment: environment)
  }

  @Test("version, units and help write to standard output and end with 0")
  func done() throws {
    #expect(
      try backline("version")
        == ProcessRunner.Ending(status: 0, output: "backline \(VersionCommand.version)\n", errors: ""))
    let units = try backline("units")
    #expect(units.status == 0 && units.output.contains("\ngain ") && units.errors.isEmpty)
    let help = try backline("--help")
    #expect(help.status == 0 && help.output.contains("\n  doctor "))
  }

  @Test("wrong usage writes one line to standard error and ends with 64")
  func usage() throws {
    #expect(
      try backline("verison")
        == ProcessRunner.Ending(
          status: 64, output: "", errors: "backline: error: unknown command 'verison': did you mean 'version'?\n"))
    #expect(try backline().status == 64)
    #expect(try backline("units", "--jsn").errors.hasSuffix("did you mean '--json'?\n"))
  }

  @Test("a reader that closes the pipe ends the program quietly, as head does")
  func brokenPipe() throws {
    let shell = "trap '' PIPE; \(try BuiltProgram.backline()) units --json | true; echo ${PIPESTATUS[0]}"
    for _ in 0..<5 {
      let ending = try ProcessRunner.run("/bin/bash", ["-c", shell])
      #expect(ending == ProcessRunner.Ending(status: 0, output: "0\n", errors: ""))
    }
    let runner = try ProcessRunner("/bin/bash", ["-c", "read; exec \(try BuiltProgram.backline()) help"])
    runner.closeOutput()
    runner.write("\n")
    #expect(try runner.wait() == ProcessRunner.Ending(status: 0, output: "", errors: ""))
  }

  @Test("a full disk behind standard output is 74")
  func fullDisk() throws {
    let ending = try ProcessRunner.run("/bin/bash", ["-c", "\(try BuiltProgram.backline()) help > /dev/full"])
    #expect(ending.status == 74)
    #expect(ending.errors == "backline: error: cannot write the output: No space left on device\n")
  }

  @Test("bash takes the completions that the program writes")
  func completions() throws {
    let program = try BuiltProgram.backline()
    let ending = try ProcessRunner.run(
      "/bin/bash", ["-c", "source <(\(program) completions bash) && complete -p backline"])
    #expect(ending.output == "complete -F _backline backline\n")
    #expect(ending.errors.isEmpty)
  }

  @Test("the doctor ends with 69 where there is no such server, and its standard error is empty")
  func doctor() throws {
    let ending = try backline("doctor", "--server", "backline-test-none", "--json")
    #expect(ending.status == 69)
    #expect(ending.output.hasPrefix("{\"status\":\"problem\""))
    #expect(ending.output.contains("\"name\":\"jackServer\",\"level\":\"problem\""))
    #expect(ending.errors.isEmpty)
  }

  @Test("a runner reads lines as they come, sends signals to its process alone, and gives up in time")
  func runner() throws {
    let runner = try ProcessRunner("/bin/bash", ["-c", "echo one; echo two >&2; while :; do sleep 0.01; done"])
    #expect(try runner.readLine() == "one")
    #expect(try runner.readErrorLine() == "two")
    #expect(throws: TimedOut.self) { try runner.readLine(0.02) }
    #expect(throws: TimedOut.self) { try runner.wait(0.02) }
    runner.send(SIGTERM)
    #expect(try runner.wait().status == 128 + SIGTERM)
    #expect(throws: ProcessRunner.StartFailure.self) { try ProcessRunner("/no/such/program") }
  }
}
