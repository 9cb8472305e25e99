// What an outside caller may use of the layers below, with its members: a mere other name for a type would hide them from a program
// that is built with `MemberImportVisibility`.

// Where sound comes from and goes to, for `AudioOutput.host`.
@_exported import protocol BacklineEngine.AudioHost
@_exported import struct BacklineEngine.HostConfiguration
@_exported import enum BacklineEngine.HostEvent
@_exported import enum BacklineEngine.HostFailure
@_exported import struct BacklineEngine.LatencyMap
// How a JACK server is attached to: which one, under which name, connected with what.
@_exported import enum BacklineJACK.JACKConnectPolicy
@_exported import struct BacklineJACK.JACKConnection
@_exported import struct BacklineJACK.JACKOptions
// What a recording is to be, and what became of it.
@_exported import enum BacklineMedia.RecordingEnd
@_exported import enum BacklineMedia.RecordingEvent
@_exported import struct BacklineMedia.RecordingGap
@_exported import struct BacklineMedia.RecordingReport
@_exported import struct BacklineMedia.RecordingSettings
// What sound files are.
@_exported import enum BacklineMedia.SampleFormat
@_exported import enum BacklineMedia.SoundContainer
@_exported import struct CBackline.HostCycle
@_exported import typealias CBackline.HostRender
