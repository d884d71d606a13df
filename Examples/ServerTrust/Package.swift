// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "ServerTrust",
    products: [.executable(name: "tlscheck", targets: ["tlscheck"])],
    dependencies: [
        .package(name: "latchkey", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // The code as it is in an app for iOS.
        .target(name: "TrustDelegate", dependencies: [.product(name: "Security", package: "latchkey")]),

        // A TLS client on SwiftNIO. It passes a server's certificates to the delegate.
        .executableTarget(
            name: "tlscheck",
            dependencies: [
                "TrustDelegate",
                .product(name: "Security", package: "latchkey"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
