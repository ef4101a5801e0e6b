// swift-tools-version: 6.3
import PackageDescription

/// With `REPRISE_CORE` set the package is floors 0 to 3, every parser, and their tests, with no package but swift-crypto: what
/// `make quick`, the sanitizers, the simulation and the planted mistakes build.
let isCoreOnly = Context.environment["REPRISE_CORE"] != nil

/// Set by scripts/build for debug builds. Optimised sources take two minutes of processor more to build and ten
/// less to test; tests themselves would take longer to optimise than they run.
let areSourcesOptimised = Context.environment["REPRISE_OPTIMISED"] != nil

/// One settings constant for every target: a rule that does not hold everywhere is not a rule.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
]

var packages: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
]
if isCoreOnly { packages = [] }

/// Apple's platforms bring CryptoKit; only Linux needs a package for SHA-256 (and, later, AES-GCM).
var crypto: [Target.Dependency] = []
/// For a test only: AES block by block, which on Apple's platforms the system has.
var blockCipher: [Target.Dependency] = []
#if os(Linux)
    packages.append(.package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"))
    crypto.append(.product(name: "Crypto", package: "swift-crypto"))
    blockCipher.append(.product(name: "CryptoExtras", package: "swift-crypto"))
#endif

/// On Linux a module of ours stands in for Apple's AVFoundation: the adapter is compiled and tested against it, and
/// reaches tests only, not the umbrella.
#if os(Linux)
    let simulation: [Target.Dependency] = ["AVFoundation"]
    let simulatedPlayer: [Target.Dependency] = ["RepriseAVFoundation", "AVFoundation"]
    let player: [Target.Dependency] = []
#else
    let simulation: [Target.Dependency] = []
    let simulatedPlayer: [Target.Dependency] = []
    let player: [Target.Dependency] = ["RepriseAVFoundation"]
#endif

/// The privacy manifest is a resource only where somebody reads it: a resource brings Foundation's Bundle along.
#if os(Linux)
    let privacy: (exclude: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#else
    let privacy: (exclude: [String], resources: [Resource]) = ([], [.process("PrivacyInfo.xcprivacy")])
#endif

let proxy: TargetDependencyCondition? = .when(traits: ["Proxy"])
let server: TargetDependencyCondition? = .when(traits: ["Server"])

func nio(_ names: String...) -> [Target.Dependency] {
    isCoreOnly ? [] : names.map { .product(name: $0, package: "swift-nio", condition: proxy) }
}

let package = Package(
    name: "reprise",
    platforms: [.iOS(.v18), .tvOS(.v18), .macCatalyst(.v18), .macOS(.v15), .visionOS(.v2), .watchOS(.v11)],
    products: [
        // Not named after its module: "Reprise" beside the program "reprise" would be one name on a Mac's disk.
        .library(name: "RepriseKit", targets: ["Reprise"]),
        .library(name: "RepriseCore", targets: ["RepriseCore"]),
        .library(name: "RepriseURLSession", targets: ["RepriseURLSession"]),
        .library(name: "RepriseProxy", targets: ["RepriseProxy"]),
        .library(name: "RepriseAsyncHTTPClient", targets: ["RepriseAsyncHTTPClient"]),
        .library(name: "RepriseTesting", targets: ["RepriseTesting"]),
        .executable(name: "reprise", targets: ["RepriseTool"]),
    ],
    traits: [
        .trait(name: "Proxy", description: "The loopback HTTP server (needs swift-nio)."),
        .trait(
            name: "Server",
            description: "The command-line tool and the origin client for Linux and servers.",
            enabledTraits: ["Proxy"]),
        .default(enabledTraits: ["Proxy"]),
    ],
    dependencies: packages,
    targets: [
        // Floor 0
        .target(name: "RepriseRanges"),
        // Floor 1
        .target(name: "RepriseHTTP", dependencies: ["RepriseRanges"]),
        .target(name: "ReprisePlatform", dependencies: ["RepriseRanges"]),
        // Floor 2
        .target(
            name: "RepriseStorage",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform"] + crypto),
        // Floor 3
        .target(
            name: "RepriseCore",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage"]),
        // Floor 4
        .target(
            name: "RepriseProxy",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseCore"]
                + nio("NIOCore", "NIOPosix", "NIOHTTP1")),
        .target(
            name: "RepriseAsyncHTTPClient",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseCore",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: server),
            ]),
        .target(
            name: "RepriseURLSession",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseCore"]),
        .target(
            name: "RepriseAVFoundation",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore"]
                + simulation),
        // Floor 5
        .target(
            name: "Reprise",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseURLSession",
                .target(name: "RepriseProxy", condition: proxy),
            ] + player,
            exclude: privacy.exclude,
            resources: privacy.resources),
        .executableTarget(
            name: "RepriseTool",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore",
                "RepriseProxy", "RepriseAsyncHTTPClient", "RepriseTesting", "RepriseLoopbackOrigin",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: server),
                .product(name: "Configuration", package: "swift-configuration", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "Metrics", package: "swift-metrics", condition: server),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: server),
            ]),
        // Beside the floors
        .target(
            name: "RepriseTesting",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore"]),
        .target(
            name: "RepriseLoopbackOrigin",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseCore", "RepriseTesting"]
                + nio("NIOCore", "NIOPosix", "NIOHTTP1")),
        // The fixed work whose instructions are counted (docs/benchmarks.md); no product of its own.
        .executableTarget(
            name: "RepriseCounts",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
            ],
            path: "Benchmarks/Sources/RepriseCounts"),
        // Every parser of foreign bytes, for tests and `make fuzz`; no product of its own.
        .target(
            name: "RepriseFuzzing",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseProxy",
                "RepriseTesting",
            ],
            path: "Tests/Fuzzing/Targets"),
        .executableTarget(
            name: "RepriseFuzz", dependencies: ["ReprisePlatform", "RepriseFuzzing"], path: "Tests/Fuzzing/Program"),
        // Tests
        .testTarget(name: "RepriseRangesTests", dependencies: ["RepriseRanges", "RepriseTesting"]),
        .testTarget(name: "RepriseHTTPTests", dependencies: ["RepriseRanges", "RepriseHTTP", "RepriseTesting"]),
        .testTarget(
            name: "ReprisePlatformTests", dependencies: ["RepriseRanges", "ReprisePlatform", "RepriseTesting"]),
        .testTarget(
            name: "RepriseStorageTests",
            dependencies: ["RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseTesting"]),
        .testTarget(
            name: "RepriseCoreTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
            ] + crypto + blockCipher),
        // The umbrella alone: what one import brings.
        .testTarget(name: "RepriseTests", dependencies: ["Reprise", "ReprisePlatform", "RepriseTesting"]),
        .testTarget(
            name: "RepriseURLSessionTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
                "RepriseURLSession",
            ]),
        .testTarget(
            name: "RepriseFuzzingTests", dependencies: ["RepriseFuzzing", "RepriseTesting"], exclude: ["Corpora"]),
        .testTarget(
            name: "RepriseTestingTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
            ]),
        // The server's decisions; its sockets are RepriseServerTests'.
        .testTarget(
            name: "RepriseProxyTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseCore", "RepriseProxy", "RepriseTesting",
            ]),
        .testTarget(
            name: "RepriseServerTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
                "RepriseProxy", "RepriseAsyncHTTPClient", "RepriseLoopbackOrigin",
            ] + nio("NIOCore", "NIOEmbedded", "NIOPosix", "NIOHTTP1") + simulatedPlayer),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
                "RepriseProxy", "RepriseAsyncHTTPClient", "RepriseLoopbackOrigin",
            ], exclude: ["Dialogues"]),
    ]
)

#if os(Linux)
    package.targets += [
        .target(name: "AVFoundation", path: "Tests/Simulation/AVFoundation"),
        .testTarget(name: "SimulatedAVFoundationTests", dependencies: ["AVFoundation"]),
        .testTarget(
            name: "RepriseAVFoundationTests",
            dependencies: [
                "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseTesting",
                "RepriseURLSession", "RepriseAVFoundation", "Reprise", "AVFoundation",
            ]),
    ]
#endif

for target in package.targets {
    let isOptimised = areSourcesOptimised && target.type != .test
    target.swiftSettings = settings + (isOptimised ? [.unsafeFlags(["-O"])] : [])
}

if isCoreOnly {
    let kept: Set = [
        "RepriseRanges", "RepriseHTTP", "ReprisePlatform", "RepriseStorage", "RepriseCore", "RepriseProxy",
        "RepriseTesting", "RepriseFuzzing",
    ]
    package.targets.removeAll { target in
        !kept.contains(target.type == .test ? String(target.name.dropLast("Tests".count)) : target.name)
    }
    package.products = []
    package.traits = []
}
