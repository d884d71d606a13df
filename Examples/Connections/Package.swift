// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The examples with TLS in one build, so that Latchkey and SwiftNIO are compiled once.
let package = Package(
    name: "Connections",
    dependencies: [
        .package(name: "MutualTLS", path: "../MutualTLS"),
        .package(name: "Pinning", path: "../Pinning"),
        .package(name: "ServerTrust", path: "../ServerTrust"),
        .package(name: "Service", path: "../Service"),
    ],
    targets: []
)
