// swift-format-ignore-file
import BacklineAVFAudio

final class PlaybackGraph {
    private let engine = AVAudioEngine()
    private let player = AVAudioPlayerNode()

    func prepareAndStart() throws {
        engine.attach(player)
        engine.connect(player, to: engine.mainMixerNode, format: nil)
        engine.prepare()
        try engine.start()
    }

    func stop() {
        player.stop()
        engine.stop()
    }
}
