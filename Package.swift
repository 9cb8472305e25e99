// swift-tools-version: 6.2
import PackageDescription

/// Settings that every Swift target shares.
let common: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings of the targets whose accesses are checked for exclusivity in debug builds only.
let unchecked: [SwiftSetting] =
  common + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// Settings of the targets whose code runs on the render thread: run-time checks of exclusivity have no place in a process
/// callback. They are optimised in debug builds, too: a reverb that is not
/// takes longer than its sound lasts, and what is tested on a real server has to keep up with it.
let realtime: [SwiftSetting] =
  unchecked + [.unsafeFlags(["-O"], .when(configuration: .debug))]

func systemLibrary(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.init(stringLiteral: name), "BacklineTestSupport"] + dependencies,
    resources: resources, swiftSettings: common)
}

func example(_ folder: String, _ name: String) -> Target {
  .executableTarget(name: name, dependencies: ["Backline"], path: "Examples/\(folder)", swiftSettings: common)
}

let package = Package(
  name: "Backline",
  products: [
    .library(name: "Backline", targets: ["Backline"]),
    .library(name: "BacklineAVFAudio", targets: ["BacklineAVFAudio"]),
    .executable(name: "backline", targets: ["BacklineCommand"]),
    .executable(name: "backline-bench", targets: ["BacklineBench"]),
  ],
  targets: [
    systemLibrary("CJACK", "jack", "libjack-jackd2-dev"),
    systemLibrary("CLiblo", "liblo", "liblo-dev"),
    systemLibrary("CSndFile", "sndfile", "libsndfile1-dev"),
    systemLibrary("CSoxr", "soxr", "libsoxr-dev"),
    systemLibrary("CRubberBand", "rubberband", "librubberband-dev"),
    systemLibrary("CEBUR128", "libebur128", "libebur128-dev"),
    systemLibrary("CFFTW", "fftw3f", "libfftw3-dev"),

    // Optimised in debug builds for the same reason as the Swift around it.
    .target(
      name: "CBackline",
      cSettings: [
        .unsafeFlags(["-Wall", "-Wextra", "-Werror"]), .unsafeFlags(["-O2"], .when(configuration: .debug)),
      ]),
    // FFmpeg, loaded when a movie is opened: needs its headers and links nothing.
    .target(name: "CMovie", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
    .target(name: "BacklineRealtime", dependencies: ["CBackline"], swiftSettings: realtime),
    .target(name: "BacklineDSP", dependencies: ["BacklineRealtime", "CBackline", "CFFTW"], swiftSettings: realtime),
    .target(
      name: "BacklineGraph", dependencies: ["BacklineDSP", "BacklineRealtime", "CBackline"],
      swiftSettings: realtime),
    .target(
      name: "BacklineEngine", dependencies: ["BacklineGraph", "BacklineDSP", "BacklineRealtime", "CBackline"],
      swiftSettings: unchecked),
    .target(
      name: "BacklineJACK",
      dependencies: ["BacklineEngine", "BacklineGraph", "BacklineRealtime", "CJACK", "CBackline"],
      swiftSettings: realtime),
    .target(
      name: "BacklineMedia",
      dependencies: ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CSndFile", "CSoxr", "CMovie", "CBackline"],
      swiftSettings: common),
    .target(
      name: "BacklineOSC",
      dependencies: ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CLiblo", "CBackline"],
      swiftSettings: common),
    .target(
      name: "BacklinePresets", dependencies: ["BacklineEngine", "BacklineDSP", "CBackline"],
      swiftSettings: common),
    .target(
      name: "Backline",
      dependencies: [
        "BacklineEngine", "BacklineJACK", "BacklineMedia", "BacklineDSP", "BacklineRealtime", "CBackline",
        "CRubberBand", "CMovie",
      ], swiftSettings: common),
    .target(name: "BacklineAVFAudio", dependencies: ["Backline"], swiftSettings: common),
    example("Tone", "example-tone"),
    example("PlayerReverb", "example-player-reverb"),
    example("LevelMeter", "example-level-meter"),
    example("LiveVoice", "example-live-voice"),
    example("MovieWriter", "example-movie-writer"),
    .target(
      name: "BacklineOffline",
      dependencies: [
        "BacklineEngine", "BacklineGraph", "BacklineMedia", "BacklineDSP", "BacklineRealtime", "CEBUR128", "CBackline",
        "CMovie",
      ], swiftSettings: common),
    .executableTarget(
      name: "BacklineCommand",
      dependencies: [
        "BacklineEngine", "BacklineGraph", "BacklineJACK", "BacklineMedia", "BacklineOffline", "BacklineOSC",
        "BacklinePresets", "BacklineDSP", "BacklineRealtime", "CJACK", "CBackline",
      ], swiftSettings: common),
    .executableTarget(
      name: "BacklineBench",
      dependencies: ["Backline", "BacklineOSC", "BacklinePresets", "BacklineDSP", "CBackline", "CJACK"],
      exclude: ["README.md"], swiftSettings: common),

    .target(
      name: "BacklineTestSupport",
      dependencies: ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CBackline", "CJACK"],
      path: "Tests/BacklineTestSupport", swiftSettings: realtime),
    tests("BacklineRealtime", ["CBackline"]),
    tests("BacklineDSP", ["BacklineRealtime", "CBackline", "CEBUR128"]),
    tests("BacklineGraph", ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CBackline"]),
    tests("BacklineEngine", ["BacklineGraph", "BacklineDSP", "BacklineRealtime", "CBackline"]),
    tests("BacklineOSC", ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CBackline"]),
    tests("BacklinePresets", ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CBackline"]),
    tests("BacklineJACK", ["BacklineEngine", "BacklineGraph", "BacklineRealtime", "CJACK", "CBackline"]),
    tests(
      "BacklineOffline",
      ["BacklineEngine", "BacklineMedia", "BacklineDSP", "BacklineRealtime", "CSndFile", "CBackline"]),
    tests("BacklineMedia", ["BacklineEngine", "BacklineDSP", "BacklineRealtime", "CSndFile", "CBackline"]),
    tests("BacklineAVFAudio", ["Backline"]),
    tests("Backline", ["BacklineEngine", "BacklineMedia", "BacklineDSP", "CBackline"]),
    .testTarget(
      name: "BacklineIntegrationTests",
      dependencies: [
        "BacklineTestSupport", "BacklineCommand", "BacklineEngine", "BacklineGraph", "BacklineJACK", "BacklineMedia",
        "BacklineOffline", "BacklineOSC", "BacklinePresets", "BacklineDSP", "BacklineRealtime", "CJACK", "CBackline",
      ], swiftSettings: common),
  ]
)
