// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The modules that read bytes from outside, built with coverage for libFuzzer. They are links to the modules of the
// package itself, so that they can be built with flags of their own.
let package = Package(
    name: "latchkey-fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        .target(name: "CLatchkey"),
        .target(name: "LinuxSystem", dependencies: ["CLatchkey"]),
        .target(name: "SecretMemory", dependencies: ["CLatchkey", "LinuxSystem"]),
        .target(name: "KeychainModel", dependencies: ["LinuxSystem", "SecretMemory"]),
        .target(
            name: "LatchkeyProtocol",
            dependencies: [
                "KeychainModel", "LinuxSystem", "SecretMemory",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["latchkey.proto"]
        ),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "OpenSSLCrypto", dependencies: ["COpenSSL", "LinuxSystem", "SecretMemory"]),
        .target(
            name: "Keybag",
            dependencies: [
                "CLatchkey", "KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .systemLibrary(name: "CSQLiteCalls"),
        .target(name: "SQLiteConnections", dependencies: ["CSQLiteCalls"]),
        .systemLibrary(name: "CZlib"),
        .target(name: "Decompression", dependencies: ["CZlib"]),
        .target(
            name: "SecretScan",
            dependencies: [
                "Decompression", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "SQLiteConnections",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .executableTarget(name: "ScanFuzzer", dependencies: ["CFuzzerMain", "SecretScan"]),
        .target(
            name: "KeychainStore",
            dependencies: [
                "CLatchkey", "KeychainModel", "Keybag", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
                "SQLiteConnections", .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(name: "Presence", dependencies: ["KeychainModel", "LinuxSystem", "SecretMemory"]),
        .target(
            name: "FileProtection",
            dependencies: [
                "CLatchkey", "KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "LatchkeyService",
            dependencies: [
                "FileProtection", "KeychainModel", "Keybag", "KeychainStore", "KeyServices", "LinuxSystem", "Presence",
                "SecretMemory",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "KeyServices", dependencies: ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory"]),
        .target(
            name: "CertificateTrust",
            dependencies: [
                "KeychainModel", "LinuxSystem", "OpenSSLCrypto", .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "CryptographicMessages",
            dependencies: [
                "CertificateTrust", "KeychainModel", "KeyServices", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
            ]),
        .target(name: "TransportPolicy", dependencies: ["CertificateTrust", "LinuxSystem"]),
        .systemLibrary(name: "CTSS2"),
        .target(name: "CLoadedLibraries"),
        .target(
            name: "TrustedPlatformModule",
            dependencies: ["CLoadedLibraries", "CTSS2", "LinuxSystem", "OpenSSLCrypto", "SecretMemory"]),
        .target(
            name: "KeyAttestation",
            dependencies: [
                "CertificateTrust", "KeychainModel", "KeyServices", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
            ]),
        .target(
            name: "HardwareSecurity",
            dependencies: [
                "KeyAttestation", "Keybag", "KeychainModel", "KeyServices", "LatchkeyService", "LinuxSystem",
                "SecretMemory", "TrustedPlatformModule",
            ]),
        .target(
            name: "LatchkeyOperations",
            dependencies: [
                "KeychainModel", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory",
            ]),
        .target(
            name: "KeychainSessions",
            dependencies: [
                "KeychainModel", "LatchkeyOperations", "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory",
            ]),
        .systemLibrary(name: "CSystemd"),
        .target(name: "SystemBus", dependencies: ["CLoadedLibraries", "CSystemd", "LinuxSystem", "SecretMemory"]),
        .target(
            name: "SecretTransfer", dependencies: ["LinuxSystem", "OpenSSLCrypto", "SecretMemory", "SystemBus"]),
        .target(
            name: "SecretService",
            dependencies: [
                "KeychainModel", "KeychainSessions", "LatchkeyOperations", "LatchkeyService", "LinuxSystem",
                "OpenSSLCrypto", "Presence", "SecretMemory", "SecretTransfer", "SystemBus",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "CFuzzerMain"),
        .executableTarget(
            name: "WireFuzzer",
            dependencies: ["CFuzzerMain", "LatchkeyOperations", "LatchkeyProtocol", "LinuxSystem", "SecretMemory"]),
        .executableTarget(
            name: "CertificateFuzzer", dependencies: ["CFuzzerMain", "CertificateTrust", "KeyServices", "SecretMemory"]),
        .executableTarget(
            name: "MessageFuzzer",
            dependencies: ["CFuzzerMain", "CertificateTrust", "CryptographicMessages", "KeyServices", "KeychainModel"]),
        .executableTarget(
            name: "KeyFuzzer", dependencies: ["CFuzzerMain", "KeyServices", "KeychainModel", "SecretMemory"]),
        // The code that reads these inputs and checks the results is in files that the ordinary tests have as well.
        .executableTarget(
            name: "CallerFuzzer", dependencies: ["CFuzzerMain", "KeychainModel", "LatchkeyService", "LinuxSystem"]),
        .executableTarget(name: "PropertyListFuzzer", dependencies: ["CFuzzerMain", "LinuxSystem"]),
        .executableTarget(
            name: "TransportFuzzer",
            dependencies: ["CFuzzerMain", "CertificateTrust", "LinuxSystem", "TransportPolicy"]),
        .executableTarget(
            name: "RequestFuzzer",
            dependencies: [
                "CFuzzerMain", "KeychainModel", "KeychainSessions", "LatchkeyOperations", "LatchkeyService",
                "LinuxSystem", "Presence", "SecretMemory",
            ]),
        .executableTarget(
            name: "BackupFuzzer",
            dependencies: ["CFuzzerMain", "Keybag", "KeychainModel", "KeychainStore", "SecretMemory"]),
        .executableTarget(
            name: "KeybagFuzzer",
            dependencies: ["CFuzzerMain", "Keybag", "KeychainModel", "LinuxSystem", "SecretMemory"]),
        .executableTarget(
            name: "ContainerFuzzer",
            dependencies: ["CFuzzerMain", "FileProtection", "KeychainModel", "SecretMemory"]),
        .target(name: "GnomeKeyringFile", dependencies: ["LinuxSystem", "OpenSSLCrypto", "SecretMemory"]),
        .executableTarget(
            name: "KeyringFuzzer", dependencies: ["CFuzzerMain", "GnomeKeyringFile", "OpenSSLCrypto", "SecretMemory"]),
        .executableTarget(
            name: "BusMessageFuzzer",
            dependencies: [
                "CFuzzerMain", "LinuxSystem", "SecretMemory", "SecretService", "SecretTransfer", "SystemBus",
            ]),
        .executableTarget(
            name: "TPMFuzzer",
            dependencies: [
                "CFuzzerMain", "HardwareSecurity", "KeyAttestation", "SecretMemory", "TrustedPlatformModule",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets
where !["CLatchkey", "CLoadedLibraries", "COpenSSL", "CSQLiteCalls", "CSystemd", "CTSS2", "CZlib", "CFuzzerMain"]
    .contains(
        target.name)
{
    let isFuzzer = target.name.hasSuffix("Fuzzer")
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .unsafeFlags(["-sanitize=fuzzer"] + (isFuzzer ? ["-parse-as-library"] : [])),
    ]
    if isFuzzer { target.linkerSettings = [.unsafeFlags(["-sanitize=fuzzer"])] }
}
