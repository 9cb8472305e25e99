import BacklineRealtime
import Testing

@Suite("Loops over samples")
struct SampleMathTests {
  private func run(_ body: (UnsafeMutablePointer<Float>, UnsafePointer<Float>) -> Void) -> [Float] {
    let from = SampleMemory.allocate(5)
    let to = SampleMemory.allocate(5)
    defer {
      SampleMemory.free(from)
      SampleMemory.free(to)
    }
    for i in 0..<5 {
      from[i] = Float(i) - 2
      to[i] = 10
    }
    body(to, from)
    return (0..<5).map { to[$0] }
  }

  @Test("scaling writes the products and nothing beyond the count")
  func scale() {
    #expect(run { SampleMath.scale($0, $1, by: 3, count: 4) } == [-6, -3, 0, 3, 10])
    #expect(run { SampleMath.scale($0, $1, by: 3, count: -1) } == [10, 10, 10, 10, 10])
  }

  @Test("a sum begins with what there is and never holds a negative zero")
  func sum() {
    let begun = run { SampleMath.beginSum($0, $1, by: -2, count: 5) }
    #expect(begun == [4, 2, 0, -2, -4])
    #expect(begun[2].sign == .plus)
    #expect(run { SampleMath.addToSum($0, $1, by: 2, count: 5) } == [6, 8, 10, 12, 14])
  }
}
