import BacklineEngine
import BacklineJACK

/// Where sound comes from and goes to: a sound server, a clock, or whatever a caller makes of it. For `AudioOutput.host`.
public typealias AudioHost = BacklineEngine.AudioHost
/// How a JACK server is attached to: which one, under which name, connected with what.
public typealias JACKOptions = BacklineJACK.JACKOptions
