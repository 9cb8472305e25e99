import BacklineRealtime
import CBackline
import Synchronization

/// The sound of the lanes.
extension PlayerTransport {
  /// True while nothing can be heard.
  var isSilent: Bool {
    @_noLocks get {
      if isRunning { return false }
      for index in 0..<PlayerLink.laneCount where voices[index].isLeaving { return false }
      return true
    }
  }

  /// Adds `count` frames of everything that sounds to `left` and `right`.
  @_noLocks
  mutating func mix(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ count: Int) {
    take()
    for index in 0..<PlayerLink.laneCount {
      if voices[index].isLeaving || (index == current && isRunning) { play(index, left, right, count) }
    }
  }

  @_noLocks
  private mutating func play(
    _ index: Int, _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    let lane = lanes + index, voice = voices + index
    var consumed = lane.pointee.consumed.load(ordering: .relaxed)
    var at = 0
    while true {
      // The last frames are written before the lane is called complete, so it is asked in the other order.
      let isComplete = lane.pointee.isComplete.load(ordering: .acquiring)
      let available = lane.pointee.written.load(ordering: .acquiring) &- consumed
      if available == 0 {
        if voice.pointee.isLeaving {
          finishLeaving(index)
        } else if isComplete {
          end()
        } else if at < count {
          starve()
        }
        return
      }
      if at == count { return }
      if isStarving && !voice.pointee.isLeaving { recover(voice, isFaded: consumed > 0) }
      let from = consumed % lane.pointee.capacity
      var length = min(available, min(count &- at, lane.pointee.capacity &- from))
      if !voice.pointee.gain.isSettled { length = min(length, Int(voice.pointee.gain.remaining)) }
      add(voice, lane.pointee.samples + 2 &* from, left + at, right + at, length)
      consumed &+= length
      at &+= length
      lane.pointee.consumed.store(consumed, ordering: .releasing)
      if voice.pointee.gain.isSettled && voice.pointee.gain.target == 0 {
        if voice.pointee.isLeaving { finishLeaving(index) } else { finishPause() }
        return
      }
    }
  }

  /// Sound has come back after a gap.
  @_noLocks
  private mutating func recover(_ voice: UnsafeMutablePointer<PlayerVoice>, isFaded: Bool) {
    isStarving = false
    if isFaded && !isPausing {
      voice.pointee.gain = Ramp(0)
      voice.pointee.gain.move(to: 1, over: rampFrames)
    }
  }

  @_noLocks
  private func add(
    _ voice: UnsafeMutablePointer<PlayerVoice>, _ frames: UnsafePointer<Float>, _ left: UnsafeMutablePointer<Float>,
    _ right: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    if voice.pointee.gain.isSettled && voice.pointee.gain.value == 1 {
      for i in 0..<count {
        left[i] += frames[2 &* i]
        right[i] += frames[2 &* i &+ 1]
      }
    } else {
      for i in 0..<count {
        let gain = voice.pointee.gain.next()
        left[i] += frames[2 &* i] * gain
        right[i] += frames[2 &* i &+ 1] * gain
      }
    }
  }

  /// Makes the state visible to control.
  @_noLocks
  func publish() {
    link.pointee.position.store(position, ordering: .relaxed)
    link.pointee.isPlaying.store(isRunning, ordering: .relaxed)
    link.pointee.hasEnded.store(hasEnded, ordering: .relaxed)
  }
}
