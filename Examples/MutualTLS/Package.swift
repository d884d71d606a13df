// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "MutualTLS",
    products: [
        .executable(name: "mtls-server", targets: ["mtls-server"]),
        .executable(name: "mtls-client", targets: ["mtls-client"]),
    ],
    dependencies: [
        .package(name: "latchkey", path: "../..", traits: ["Transport"]),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // New code for servers: SwiftNIO, with the identity and the decision of Latchkey.
        .executableTarget(
            name: "mtls-server",
            dependencies: [
                .product(name: "LatchkeyNIOSSL", package: "latchkey"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),

        // The code as it is in an app for iOS.
        .target(
            name: "KeychainIdentities", dependencies: [.security],
            swiftSettings: [.unsafeFlags(["-module-alias", "Security=LatchkeySecurity"])]),
        .executableTarget(
            name: "mtls-client",
            dependencies: [
                "KeychainIdentities", .security, .product(name: "LatchkeyURLSession", package: "latchkey"),
            ],
            swiftSettings: [.unsafeFlags(["-module-alias", "Security=LatchkeySecurity"])]),
    ],
    swiftLanguageModes: [.v6]
)

extension Target.Dependency {
    static var security: Self { .product(name: "LatchkeySecurity", package: "latchkey") }
}
