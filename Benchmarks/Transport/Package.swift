// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, so that the other benchmarks fetch and build no package of SwiftNIO.
let package = Package(
    name: "latchkey-transport-benchmarks",
    products: [.executable(name: "latchkey-transport-bench", targets: ["TransportBench"])],
    dependencies: [
        .package(name: "latchkey", path: "../..", traits: ["Transport"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .executableTarget(
            name: "TransportBench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "LatchkeyNIOSSL", package: "latchkey"),
                .product(name: "LatchkeyURLSession", package: "latchkey"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]
        )
    ],
    swiftLanguageModes: [.v6]
)
