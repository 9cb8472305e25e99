import BacklineRealtime
import Glibc
import Testing

@Suite("Memory for samples")
struct SampleMemoryTests {
  @Test("what the machine does not have is not promised, though the system would promise it")
  func promises() {
    let all = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    for bytes in [all, all - 1 << 20, .max, .max - 64, .max / 2] { #expect(!SampleMemory.isAvailable(bytes: bytes)) }
    #expect(SampleMemory.isAvailable(bytes: 1 << 20) && SampleMemory.isAvailable(bytes: 0))
  }
}
