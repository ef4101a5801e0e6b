// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "device-check",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "reprise", path: "../..")],
    targets: [
        .executableTarget(name: "DeviceCheck", dependencies: [.product(name: "RepriseKit", package: "reprise")])
    ])
