// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "App",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(path: "../DefaultsWrapper"),
        .package(path: "../GateKeeper"),
        .package(path: "../KeychainStore"),
        .package(path: "../PinnedTrust"),
        .package(path: "../SecureBox"),
        .package(path: "../TokenSigner"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "sdk-app",
            dependencies: [
                "DefaultsWrapper", "GateKeeper", "KeychainStore", "PinnedTrust", "SecureBox", "TokenSigner",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        )
    ],
    swiftLanguageVersions: [.v5]
)
