/// The commands.
extension CommandDeclaration {
  static let run = CommandDeclaration(
    "run", "Runs the rack until it is interrupted or told to quit.", arguments: [.optionalPreset],
    options: [
      .name, .server, .host, .oscPort, .oscBind, .connect, .threads, .root, .exactName, .capture, .preRoll, .splitTime,
      .splitSize, .recordEvents, .json,
    ],
    discussion: """
      Standard output carries one line once OSC listens and audio runs or is being waited for, and a line whenever that \
      changes:
        ready name=NAME host=jack state=running rate=48000 period=128 osc=9950
        state STATE CAUSE

      SIGINT, SIGTERM, SIGHUP and the command /quit end it within two seconds: the outputs fade out first. The JACK \
      server is never started by Backline.
      """)

  static let render = CommandDeclaration(
    "render", "Renders sound files through a preset, faster than they sound and without JACK.",
    arguments: [.inputs, .output],
    options: [
      .throughPreset, .setting, .tail, .rate, .containerFormat, .sampleFormat, .maxFrames, .threads, .events, .replay,
      .normalize, .jobs, .tracks,
      .overwrite, .json, .quiet,
    ],
    discussion: """
      The output appears under its name when all of it has been written, synced and read back, and not before; whatever \
      fails or is cancelled leaves nothing there. It is as long as the input and its tail, to the frame, without the latency \
      of the preset. The same input gives the same bits, whatever --max-frames is.

      With --json there is one object at the end, on standard error where OUTPUT is -: status (completed, failed or \
      cancelled), frames, rate, channels, tail (in frames), tailReason (none, seconds, silence or limit), latency (the frames \
      that were removed), peak (in dBFS, null for silence), clipped (samples too loud for whole numbers), nonFinite, dropped \
      (metadata that the format does not hold), seconds, realtimeFactor; or error. A batch has completed, failed and files.

      Of a movie (mkv, mp4, mov) the sound of every track goes through the preset, and stays in its codec where that can be; \
      pictures and subtitles are copied as they are, and keep their times.

      A batch writes each input under its own name into the folder OUTPUT, which is made where it is not there, goes on after a failure, and ends with the first \
      failure's code.
      """)

  static let record = CommandDeclaration(
    "record", "Records ports of a JACK server until it is interrupted.", arguments: [.recording],
    options: [
      .ports, .duration, .splitTime, .splitSize, .recordingFormat, .recordingSampleFormat, .server, .name, .json,
    ],
    discussion: """
      A file is written under its name with .recording behind it, and gets its name when it is whole: after SIGINT, SIGTERM or \
      SIGHUP, after --duration, or when the disk is full. What a kill or a power cut leaves is brought back by 'backline \
      recover', all but the last second.

      WAV (RF64 beyond 4 GiB), RF64, W64 and CAF can be recorded, and FLAC, Ogg Vorbis and Opus, which are WAV until they are \
      whole and are converted then; where there is no room for that, they stay WAV. Frames that a slow disk or the server costs are replaced by \
      silence, so that everything else keeps its place, and listed at the end; it ends with 74 then, and with 0 where \
      nothing is missing.
      """)

  static let recover = CommandDeclaration(
    "recover", "Brings back recordings that were not finished.", arguments: [.recoverable], options: [.json],
    discussion: "Files that are whole, and recordings that still run, are left alone.")

  static let units = CommandDeclaration(
    "units", "Lists the kinds of unit, or all about one.", arguments: [.kind], options: [.json])

  static let check = CommandDeclaration(
    "check", "Checks presets without playing them.", arguments: [.presets],
    discussion: "Prints FILE:LINE:COLUMN: KEYPATH: message for whatever is wrong, and ends with 65 where anything is.")

  static let graph = CommandDeclaration(
    "graph", "Draws the graph of a preset.", arguments: [.preset], options: [.format])

  static let osc = CommandDeclaration(
    "osc", "Sends one command to a running rack and shows its answer.", arguments: [.address, .values],
    options: [.port],
    discussion: """
      A whole number is sent as an int (64 bits wide where it needs them), a decimal number as a float, true and false as \
      the two switches, and anything else as a string. A type in front forces it: i: int, h: 64-bit int, f: float, \
      d: double, s: string. So s:12 is the string "12", and s:i:0 the text i:0.

      Prints a line for each answer: the address and its values. Ends with 65 where the command is refused and with 69 \
      where nobody answers within two seconds.
      """)

  static let status = CommandDeclaration(
    "status", "Shows how a running rack is doing.", options: [.port, .json, .watch, .nodes],
    discussion: "With --json and --watch there is one object a line.")

  static let meters = CommandDeclaration(
    "meters", "Shows the levels of a running rack's meters.", options: [.port, .json],
    discussion: """
      Each unit of the kind meter has a bar for its left and its right side: as long as the RMS level, with a mark at the \
      peak level, which is also written out. With --json there is one object a line, ten times a second.

      Ends with 0 on SIGINT, SIGTERM or SIGHUP, and with 69 when the rack does not answer any more.
      """)

  static let doctor = CommandDeclaration(
    "doctor", "Checks whether this machine is ready for live sound, and says what to do.", options: [.server, .json],
    discussion: """
      Each line is ok, a warning (Backline works, but the sound may drop out or come late) or a problem (Backline cannot \
      do its work). Ends with 0 where there is no problem, else with 69.
      """)

  static let version = CommandDeclaration("version", "Shows the version.", options: [.json])

  static let completions = CommandDeclaration(
    "completions", "Writes the completions for a shell.", arguments: [.shell],
    discussion: """
      bash: save it as ~/.local/share/bash-completion/completions/backline
      zsh: save it as _backline in a folder of $fpath
      fish: save it as ~/.config/fish/completions/backline.fish
      """)

  static let help = CommandDeclaration("help", "Shows help on a command, or on all.", arguments: [.command])

  /// All commands, in the order of the help.
  static let all = [
    run, render, record, recover, units, check, graph, osc, status, meters, doctor, version, completions, help,
  ]
}
