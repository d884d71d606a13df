// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Apple's module names, for one target alone: its siblings do not see them.
let appleNames: [SwiftSetting] = [
    .unsafeFlags([
        "-module-alias", "Security=LatchkeySecurity",
        "-module-alias", "LocalAuthentication=LatchkeyLocalAuthentication",
        "-module-alias", "CommonCrypto=LatchkeyCommonCrypto",
        "-module-alias", "CryptoKit=Crypto",
    ])
]

let package = Package(
    name: "Siblings",
    dependencies: [
        .package(name: "latchkey", path: "../.."),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // An app's target: it says `import Security` and `import LocalAuthentication`, and everything in it is
        // as on Apple's platforms.
        .executableTarget(
            name: "ported",
            dependencies: [
                .product(name: "LatchkeySecurity", package: "latchkey"),
                .product(name: "LatchkeyLocalAuthentication", package: "latchkey"),
                .product(name: "LatchkeyCommonCrypto", package: "latchkey"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: appleNames
        ),
        // New code.
        .executableTarget(name: "native", dependencies: [.product(name: "Latchkey", package: "latchkey")]),

        // Packages of other authors guard Apple's code by canImport(Security); these must not see it.
        .target(name: "GuardedToken", dependencies: [.product(name: "Crypto", package: "swift-crypto")]),
        .executableTarget(name: "tokens", dependencies: ["GuardedToken"]),
        .executableTarget(
            name: "chain",
            dependencies: [
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .executableTarget(
            name: "tls",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .executableTarget(
            name: "exchange",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
