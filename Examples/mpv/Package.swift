// swift-tools-version: 6.3
import PackageDescription

// On Linux the headers lie where the compiler looks; some of what pkg-config adds there the build refuses.
#if os(Linux)
    let flags: String? = nil
#else
    let flags: String? = "mpv"
#endif

/// A player over libmpv that reads from the cache itself: Debian's libmpv-dev, or Homebrew's mpv.
///
/// Without traits the cache brings no network package along; URLSession is the system's.
let package = Package(
    name: "mpv-player",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "reprise", path: "../..", traits: [])],
    targets: [
        .systemLibrary(name: "CMpv", pkgConfig: flags, providers: [.apt(["libmpv-dev"]), .brew(["mpv"])]),
        .executableTarget(
            name: "MpvPlayer",
            dependencies: [
                "CMpv",
                .product(name: "RepriseCore", package: "reprise"),
                .product(name: "RepriseURLSession", package: "reprise"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
            ]),
    ])
