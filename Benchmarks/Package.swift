// swift-tools-version: 6.3
import PackageDescription

/// The origin and the clients of the benchmarks. A package of its own, without dependencies, so that what measures is
/// not made of what is measured; Linux only, like the servers it is beside.
let package = Package(
    name: "benchmarks",
    targets: [
        .executableTarget(
            name: "RepriseBench",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
            ])
    ]
)
