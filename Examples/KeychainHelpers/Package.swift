// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "KeychainHelpers",
    dependencies: [
        .package(name: "latchkey", path: "../.."),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    ],
    targets: [
        // The same sources in both modes: the files of HelpersSwift6 are symbolic links to those of
        // HelpersSwift5.
        .target(name: "HelpersSwift5", dependencies: [.security], swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "HelpersSwift6", dependencies: [.security], swiftSettings: [.swiftLanguageMode(.v6)]),

        // Beside swift-certificates, because it guards code by canImport(Security).
        .target(name: "CertificateBridge", dependencies: [.security, .asn1, .x509]),

        .executableTarget(name: "notes", dependencies: [.security]),
        .executableTarget(name: "envelope", dependencies: ["HelpersSwift6", .security]),

        // Three programs with different identifiers; Entitlements/ lists the groups of each.
        .target(name: "SharedItems", dependencies: [.security]),
        .executableTarget(name: "mailbox", dependencies: ["SharedItems"]),
        .executableTarget(name: "journal", dependencies: ["SharedItems"]),
        .executableTarget(name: "overview", dependencies: ["SharedItems"]),

        // Tests; the files of HelpersSwift6Tests are symbolic links as well.
        .target(name: "ThrowAwayKeychain", path: "Tests/ThrowAwayKeychain"),
        .testTarget(
            name: "HelpersSwift5Tests",
            dependencies: ["HelpersSwift5", "ThrowAwayKeychain", .security],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "HelpersSwift6Tests",
            dependencies: ["HelpersSwift6", "ThrowAwayKeychain", .security],
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .testTarget(name: "CertificateBridgeTests", dependencies: ["CertificateBridge", .security, .x509]),
        .testTarget(name: "BothFacesTests", dependencies: ["ThrowAwayKeychain", .security, .latchkey]),
    ],
    swiftLanguageModes: [.v6]
)

// Each target has Apple's name for the module, for itself alone.
for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [.unsafeFlags(["-module-alias", "Security=LatchkeySecurity"])]
}

extension Target.Dependency {
    static var asn1: Self { .product(name: "SwiftASN1", package: "swift-asn1") }
    static var latchkey: Self { .product(name: "Latchkey", package: "latchkey") }
    static var security: Self { .product(name: "LatchkeySecurity", package: "latchkey") }
    static var x509: Self { .product(name: "X509", package: "swift-certificates") }
}
