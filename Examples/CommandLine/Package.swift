// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "CommandLine",
    dependencies: [
        .package(name: "latchkey", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // New code for Linux that takes the keychain as a parameter.
        .target(name: "ForgeTokens", dependencies: [.product(name: "Latchkey", package: "latchkey")]),
        .executableTarget(
            name: "forge",
            dependencies: ["ForgeTokens", .product(name: "ArgumentParser", package: "swift-argument-parser")]),
        .testTarget(
            name: "ForgeTokensTests", dependencies: ["ForgeTokens", .product(name: "Latchkey", package: "latchkey")]),
    ],
    swiftLanguageModes: [.v6]
)
