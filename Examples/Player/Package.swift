// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "player",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "reprise", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "Player", dependencies: [.product(name: "RepriseKit", package: "reprise")])
    ])
