import BacklineDSP
import BacklineEngine
import BacklineGraph
import BacklineRealtime
import CBackline

final class Host: AudioHost, @unchecked Sendable {
  let kind = "bench"
  var render: HostRender?
  var state: UnsafeMutableRawPointer?
  var ev: (@Sendable (HostEvent) -> Void)?
  var started = false
  func open(
    _ c: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    self.render = render; self.state = state; ev = onEvent
    onEvent(.opened(name: c.name, sampleRate: 48000, period: 64))
  }
  func start() { started = true; ev?(.started) }
  func close(completion: @escaping @Sendable (Bool) -> Void) { completion(true) }
  func setLatencies(_ l: LatencyMap) {}
  func frame(at n: Int64) -> Int64? { nil }
  var lateCounts: (own: Int, server: Int) { (0, 0) }
  var isRealtime: Bool { false }
}
@main struct Main {
  static func main() async throws {
    let n = 1000
    let engine = Engine()
    let host = Host()
    await engine.start(host, name: "b")
    while !host.started { try await Task.sleep(nanoseconds: 1_000_000) }
    let t0 = backline_now()
    var prev = "input"
    for i in 0..<n {
      try await engine.perform(.add(kind: "gain", name: "n\(i)", values: [(0, -0.01)]))
      try await engine.perform(.connect(Endpoint(prev), Endpoint("n\(i)")))
      prev = "n\(i)"
    }
    try await engine.perform(.connect(Endpoint(prev), Endpoint("output")))
    let t1 = backline_now()
    await engine.flush()
    let t2 = backline_now()
    print("build", Double(t1 - t0) / 1e3 / Double(n), "us per node (2 edits); flush", Double(t2 - t1) / 1e3, "us")
    func cycle(_ frames: Int, _ ins: [UnsafePointer<Float>], _ outs: [UnsafeMutablePointer<Float>]) {
      ins.withUnsafeBufferPointer { i in
        outs.withUnsafeBufferPointer { o in
          var c = HostCycle(
            inputs: i.baseAddress, outputs: o.baseAddress, inputCount: 2, outputCount: 2, frameCount: Int32(frames))
          host.render!(host.state!, &c)
        }
      }
    }
    let a = SampleMemory.allocate(1024), b = SampleMemory.allocate(1024), o1 = SampleMemory.allocate(1024),
      o2 = SampleMemory.allocate(1024)
    for i in 0..<1024 { a[i] = Float.random(in: -0.1...0.1); b[i] = Float.random(in: -0.1...0.1) }
    _ = backline_flush_denormals()
    for _ in 0..<100 { cycle(64, [UnsafePointer(a), UnsafePointer(b)], [o1, o2]) }
    await engine.tidyNow()
    for _ in 0..<20 {
      cycle(64, [UnsafePointer(a), UnsafePointer(b)], [o1, o2])
      await engine.tidyNow()
    }
    for frames in [16, 64, 256] {
      var best = Int64.max
      for _ in 0..<200 {
        let s = backline_now()
        cycle(frames, [UnsafePointer(a), UnsafePointer(b)], [o1, o2])
        best = min(best, backline_now() - s)
      }
      print("frames", frames, "ns per node", Double(best) / Double(n), "out", o1[0])
    }
    // compile time alone
    for round in 0..<5 {
      try await engine.perform(.add(kind: "gain", name: "x\(round)", values: []))
      let s = backline_now()
      await engine.flush()
      print("one edit flush", Double(backline_now() - s) / 1e3, "us")
      cycle(64, [UnsafePointer(a), UnsafePointer(b)], [o1, o2])
    }
    // silent
    backline_zero(a, 1024); backline_zero(b, 1024)
    for _ in 0..<3000 { cycle(64, [UnsafePointer(a), UnsafePointer(b)], [o1, o2]) }
    var best = Int64.max
    for _ in 0..<200 {
      let s = backline_now()
      cycle(64, [UnsafePointer(a), UnsafePointer(b)], [o1, o2])
      best = min(best, backline_now() - s)
    }
    print("silent ns per node", Double(best) / Double(n))
  }
}
