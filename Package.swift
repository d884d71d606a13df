// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "latchkey",
    products: [
        .library(name: "Security", targets: ["Security"]),
        .library(name: "Latchkey", targets: ["Latchkey"]),
        .library(name: "LatchkeyCommonCrypto", targets: ["LatchkeyCommonCrypto"]),
        .executable(name: "latchkey", targets: ["LatchkeyTool"]),
        .executable(name: "latchkeyd", targets: ["LatchkeyDaemon"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Foundations: the machine underneath. Nothing here knows what a keychain is.
        .target(name: "CLatchkey", path: "Sources/Foundations/CLatchkey", linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "COpenSSL", path: "Sources/Foundations/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "OpenSSLCrypto", dependencies: ["COpenSSL", "SecretMemory"], path: "Sources/Foundations/OpenSSLCrypto"),
        .target(name: "LinuxSystem", dependencies: ["CLatchkey"], path: "Sources/Foundations/LinuxSystem"),
        .target(name: "SecretMemory", dependencies: ["CLatchkey", "LinuxSystem"], path: "Sources/Foundations/SecretMemory"),

        // Model: plain values, no input or output.
        .target(name: "KeychainModel", dependencies: ["SecretMemory"], path: "Sources/Model/KeychainModel"),

        // Engines: synchronous, thread-safe, ignorant of sockets and dictionaries.
        .target(
            name: "Keybag",
            dependencies: ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", .crypto],
            path: "Sources/Engines/Keybag"
        ),
        .target(
            name: "KeychainStore",
            dependencies: [
                "CLatchkey", "KeychainModel", "Keybag", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", .crypto, .grdb, .sqlite,
            ],
            path: "Sources/Engines/KeychainStore"
        ),

        .target(
            name: "KeyServices",
            dependencies: ["KeychainModel", "OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Engines/KeyServices"
        ),

        .target(
            name: "CertificateTrust",
            dependencies: ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", .asn1, .crypto],
            path: "Sources/Engines/CertificateTrust"
        ),

        // Service: who may do what, and when.
        .target(
            name: "LatchkeyService",
            dependencies: ["KeychainModel", "Keybag", "KeychainStore", "KeyServices", "LinuxSystem", "SecretMemory", .log],
            path: "Sources/Service/LatchkeyService"
        ),
        .target(
            name: "LatchkeyProtocol",
            dependencies: ["KeychainModel", "LinuxSystem", "SecretMemory", .protobuf],
            path: "Sources/Service/LatchkeyProtocol",
            exclude: ["latchkey.proto"]
        ),
        .target(
            name: "LatchkeyServer",
            dependencies: ["KeychainModel", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "SecretMemory", .log],
            path: "Sources/Service/LatchkeyServer"
        ),
        .target(
            name: "LatchkeyClient",
            dependencies: [
                "CertificateTrust", "KeychainModel", "KeyServices", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "SecretMemory",
            ],
            path: "Sources/Service/LatchkeyClient"
        ),

        // Faces: shapes for the caller, no rules.
        .target(
            name: "Security",
            dependencies: [
                "CertificateTrust", "KeychainModel", "KeyServices", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory",
            ],
            path: "Sources/Faces/Security"
        ),
        .target(
            name: "Latchkey",
            dependencies: ["KeychainModel", "KeyServices", "LatchkeyClient", "LatchkeyService", "SecretMemory", .crypto],
            path: "Sources/Faces/Latchkey"
        ),
        .target(
            name: "LatchkeyCommonCrypto",
            dependencies: ["OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Faces/LatchkeyCommonCrypto"
        ),
        .target(
            name: "LatchkeyCommands",
            dependencies: [
                "CertificateTrust", "KeychainModel", "KeyServices", "LatchkeyClient", "LatchkeyServer", "LatchkeyService", "LinuxSystem",
                "SecretMemory",
                .argumentParser,
            ],
            path: "Sources/Faces/LatchkeyCommands"
        ),

        // Executables: wiring only.
        .executableTarget(
            name: "LatchkeyTool",
            dependencies: ["LatchkeyClient", "LatchkeyCommands", "LinuxSystem", .log],
            path: "Sources/Executables/LatchkeyTool"
        ),
        .executableTarget(
            name: "LatchkeyDaemon",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeyServer", "LatchkeyService", "LinuxSystem", .argumentParser, .lifecycle, .log,
                .signals,
            ],
            path: "Sources/Executables/LatchkeyDaemon"
        ),

        // Tests.
        .target(
            name: "KeychainTesting",
            dependencies: ["KeychainModel", "LatchkeyClient", "LatchkeyServer", "LatchkeyService", "LinuxSystem", "SecretMemory"],
            path: "Tests/KeychainTesting"
        ),
        .testTarget(name: "ArchitectureTests"),
        .testTarget(name: "FoundationsTests", dependencies: ["LinuxSystem", "OpenSSLCrypto", "SecretMemory", "KeychainTesting"]),
        .testTarget(name: "KeychainModelTests", dependencies: ["KeychainModel", "SecretMemory"]),
        .testTarget(
            name: "KeybagTests", dependencies: ["Keybag", "KeychainModel", "LinuxSystem", "SecretMemory", "KeychainTesting", .crypto]),
        .testTarget(
            name: "KeychainStoreTests",
            dependencies: ["Keybag", "KeychainModel", "KeychainStore", "LinuxSystem", "SecretMemory", "KeychainTesting", .crypto, .grdb],
            exclude: ["Vectors"]
        ),
        .testTarget(
            name: "KeyServicesTests", dependencies: ["KeychainModel", "KeyServices", "SecretMemory", "KeychainTesting", .crypto]),
        .testTarget(name: "CertificateTrustTests", dependencies: ["CertificateTrust", "OpenSSLCrypto", "KeychainTesting", .crypto]),
        .testTarget(
            name: "LatchkeyProtocolTests",
            dependencies: ["KeychainModel", "LatchkeyProtocol", "LinuxSystem", "SecretMemory", "KeychainTesting"]),
        .testTarget(
            name: "LatchkeyServerTests",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeyProtocol", "LatchkeyServer", "LatchkeyService", "LinuxSystem", "SecretMemory",
                "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LatchkeyServiceTests",
            dependencies: ["KeychainModel", "LatchkeyService", "LatchkeyClient", "LinuxSystem", "SecretMemory", "KeychainTesting"]
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "Security", "KeychainModel", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory", "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LatchkeyTests",
            dependencies: ["Latchkey", "KeychainModel", "LatchkeyClient", "LatchkeyService", "SecretMemory", "KeychainTesting", .crypto]),
        .testTarget(name: "LatchkeyCommonCryptoTests", dependencies: ["LatchkeyCommonCrypto", "KeychainTesting", .crypto]),
        .testTarget(
            name: "LatchkeyCommandsTests",
            dependencies: [
                "LatchkeyCommands", "LatchkeyTool", "KeychainModel", "LatchkeyClient", "LatchkeyService", "SecretMemory", "KeychainTesting",
            ],
            resources: [.copy("Golden")]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Security", "Latchkey", "LatchkeyDaemon", "LatchkeyServer", "LatchkeyTool", "Keybag", "KeychainModel", "KeychainStore",
                "LatchkeyClient", "LatchkeyService",
                "LinuxSystem",
                "SecretMemory", "KeychainTesting", "ProofWorker", .grdb,
            ]
        ),
        // The process that the concurrency, crash and fork proofs start, kill and fork. Not a product.
        .executableTarget(
            name: "ProofWorker",
            dependencies: ["CLatchkey", "KeychainModel", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory", "Security"],
            path: "Tests/ProofWorker"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["CLatchkey", "COpenSSL"].contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

// Other packages of the same build see the module `Security` through `canImport` and import it without depending on this package, so that
// they could not load what it is built on (swift-certificates does; ARCHITECTURE.md, "Seen from outside"). The compiler checks that
// nothing of it shows, and warns that it does so without library evolution, which the check makes safe.
for target in package.targets where target.name == "Security" {
    target.swiftSettings? += [
        .enableExperimentalFeature("CheckImplementationOnly"),
        .treatWarning("ImplementationOnlyDeprecated", as: .warning),
    ]
}

// These tests are written as an app's code is, which says `import CommonCrypto`.
for target in package.targets where target.name == "LatchkeyCommonCryptoTests" {
    target.swiftSettings? += [.unsafeFlags(["-module-alias", "CommonCrypto=LatchkeyCommonCrypto"])]
}

// The project's own builds (make, CI) stop at warnings; a newer compiler's warnings are nobody else's problem.
if Context.environment["LATCHKEY_STRICT"] == "1" {
    for target in package.targets where target.swiftSettings != nil {
        target.swiftSettings?.insert(.treatAllWarnings(as: .error), at: 0)
    }
}

extension Target.Dependency {
    static var argumentParser: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var asn1: Self { .product(name: "SwiftASN1", package: "swift-asn1") }
    static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
    static var grdb: Self { .product(name: "GRDB", package: "GRDB.swift") }
    static var lifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
    static var log: Self { .product(name: "Logging", package: "swift-log") }
    static var protobuf: Self { .product(name: "SwiftProtobuf", package: "swift-protobuf") }
    static var signals: Self { .product(name: "UnixSignals", package: "swift-service-lifecycle") }
    static var sqlite: Self { .product(name: "GRDBSQLite", package: "GRDB.swift") }
}
