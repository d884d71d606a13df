// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "latchkey",
    products: [
        .library(name: "Latchkey", targets: ["Latchkey"]),
        .library(name: "LatchkeySecurity", targets: ["LatchkeySecurity"]),
        // Security and LocalAuthentication are Apple's names, which every target of a consumer's build sees:
        // Documentation/ModuleNames.md.
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LatchkeyLocalAuthentication", targets: ["LatchkeyLocalAuthentication"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "LatchkeyCommonCrypto", targets: ["LatchkeyCommonCrypto"]),
        .library(name: "LatchkeyFoundation", targets: ["LatchkeyFoundation"]),
        // With the trait Transport.
        .library(name: "LatchkeyNIOSSL", targets: ["LatchkeyNIOSSL"]),
        .library(name: "LatchkeyURLSession", targets: ["LatchkeyURLSession"]),
        .library(name: "LatchkeyURLSessionDefaults", targets: ["LatchkeyURLSessionDefaults"]),
        // With the trait HTTPClient.
        .library(name: "LatchkeyHTTPClient", targets: ["LatchkeyHTTPClient"]),
        .executable(name: "latchkey-mount", targets: ["LatchkeyMount"]),
        .executable(name: "latchkey-import", targets: ["LatchkeyImport"]),
        .executable(name: "latchkey-tls", targets: ["LatchkeyTLSTool"]),
        .executable(name: "latchkey", targets: ["LatchkeyTool"]),
        .executable(name: "latchkeyd", targets: ["LatchkeyDaemon"]),
        .executable(name: "latchkey-biometry-digest", targets: ["BiometryDigest"]),
        .executable(name: "latchkey-secret-service", targets: ["LatchkeySecretService"]),
    ],
    traits: [
        .trait(
            name: "Tools", description: "The executables latchkey and latchkeyd, and the packages that only they need."),
        .trait(name: "Transport", description: "The products for connections with TLS, and the packages of SwiftNIO."),
        .trait(
            name: "HTTPClient", description: "The product for async-http-client, and its packages.",
            enabledTraits: ["Transport"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.40.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // Foundations: the machine underneath. Nothing here knows what a keychain is.
        .target(name: "CLatchkey", path: "Sources/Foundations/CLatchkey"),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/Foundations/COpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        // Without pkgConfig and providers, for which a consumer's build would print a warning: only the executables
        // need libfido2.
        .systemLibrary(name: "CFido2", path: "Sources/Foundations/CFido2"),
        .target(
            name: "OpenSSLCrypto", dependencies: ["COpenSSL", "LinuxSystem", "SecretMemory"],
            path: "Sources/Foundations/OpenSSLCrypto"
        ),
        // Without pkgConfig and providers: only latchkeyd uses it, and a consumer of the libraries has no warning where
        // libsystemd is not installed.
        .systemLibrary(name: "CSystemd", path: "Sources/Foundations/CSystemd"),
        // The same for libtss2.
        .systemLibrary(name: "CTSS2", path: "Sources/Foundations/CTSS2"),
        .target(name: "LinuxSystem", dependencies: ["CLatchkey"], path: "Sources/Foundations/LinuxSystem"),
        .target(
            name: "SecretMemory", dependencies: ["CLatchkey", "LinuxSystem"], path: "Sources/Foundations/SecretMemory"),
        .target(
            name: "SystemBus", dependencies: ["CSystemd", "LinuxSystem", "SecretMemory"],
            path: "Sources/Foundations/SystemBus"),
        // The same for libfuse3.
        .systemLibrary(name: "CFuse3", path: "Sources/Foundations/CFuse3"),
        .systemLibrary(name: "CFileCalls", path: "Sources/Foundations/CFileCalls"),
        // Without pkgConfig: the header needs no flags.
        .systemLibrary(name: "CSQLiteCalls", path: "Sources/Foundations/CSQLiteCalls"),
        .target(
            name: "SQLiteConnections", dependencies: ["CSQLiteCalls"], path: "Sources/Foundations/SQLiteConnections"),
        .target(
            name: "UserspaceFileSystem", dependencies: ["CFuse3", "LinuxSystem"],
            path: "Sources/Foundations/UserspaceFileSystem"),
        .target(
            name: "SecurityKey", dependencies: ["CFido2", "LinuxSystem", "SecretMemory"],
            path: "Sources/Foundations/SecurityKey"),
        .target(
            name: "TrustedPlatformModule", dependencies: ["CTSS2", "LinuxSystem", "OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Foundations/TrustedPlatformModule"),

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
                "CLatchkey", "KeychainModel", "Keybag", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
                "SQLiteConnections", .crypto,
            ],
            path: "Sources/Engines/KeychainStore"
        ),

        .target(
            name: "FileProtection",
            dependencies: ["CLatchkey", "KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", .crypto],
            path: "Sources/Engines/FileProtection"
        ),

        .target(
            name: "KeyServices",
            dependencies: ["KeychainModel", "OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Engines/KeyServices"
        ),

        .target(
            name: "KeyAttestation",
            dependencies: ["CertificateTrust", "KeychainModel", "KeyServices", "OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Engines/KeyAttestation"
        ),
        .target(
            name: "CertificateTrust",
            dependencies: ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", .asn1, .crypto],
            path: "Sources/Engines/CertificateTrust"
        ),

        .target(
            name: "CryptographicMessages",
            dependencies: ["CertificateTrust", "KeychainModel", "KeyServices", "OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Engines/CryptographicMessages"
        ),

        .target(
            name: "TransportPolicy", dependencies: ["CertificateTrust", "LinuxSystem"],
            path: "Sources/Engines/TransportPolicy"),

        .target(
            name: "Presence", dependencies: ["KeychainModel", "LinuxSystem", "SecretMemory"],
            path: "Sources/Engines/Presence"),

        .target(
            name: "EnrolledPrints", dependencies: ["KeychainModel", "LinuxSystem", "OpenSSLCrypto"],
            path: "Sources/Engines/EnrolledPrints"),
        .target(
            name: "GnomeKeyringFile", dependencies: ["OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Engines/GnomeKeyringFile"),
        // Over the session bus: only latchkey-secret-service and latchkey-import use these.
        .target(
            name: "SecretTransfer", dependencies: ["LinuxSystem", "OpenSSLCrypto", "SecretMemory", "SystemBus"],
            path: "Sources/Engines/SecretTransfer"),
        .target(
            name: "SecretServiceClient", dependencies: ["LinuxSystem", "SecretMemory", "SecretTransfer", "SystemBus"],
            path: "Sources/Engines/SecretServiceClient"),
        // Over the system bus: only latchkeyd uses it.
        .target(
            name: "Fingerprint",
            dependencies: ["EnrolledPrints", "KeychainModel", "LinuxSystem", "Presence", "SystemBus"],
            path: "Sources/Engines/Fingerprint"),

        // Service: who may do what, and when.
        .target(
            name: "LatchkeyService",
            dependencies: [
                "FileProtection", "KeychainModel", "Keybag", "KeychainStore", "KeyServices", "LinuxSystem", "Presence",
                "SecretMemory", .log,
            ],
            path: "Sources/Service/LatchkeyService"
        ),
        .target(
            name: "LatchkeyProtocol",
            dependencies: ["KeychainModel", "LinuxSystem", "SecretMemory", .protobuf],
            path: "Sources/Service/LatchkeyProtocol",
            exclude: ["latchkey.proto"]
        ),
        .target(
            name: "LatchkeyOperations",
            dependencies: [
                "KeychainModel", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory",
            ],
            path: "Sources/Service/LatchkeyOperations"
        ),
        .target(
            name: "LatchkeyServer",
            dependencies: [
                "KeychainModel", "LatchkeyOperations", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "Presence",
                "SecretMemory", .log,
            ],
            path: "Sources/Service/LatchkeyServer"
        ),
        .target(
            name: "LoginSession", dependencies: ["LatchkeyServer", "LinuxSystem", "SystemBus", .log],
            path: "Sources/Service/LoginSession"),
        .target(
            name: "SecurityKeyPresence",
            dependencies: ["KeychainModel", "LatchkeyService", "LinuxSystem", "SecretMemory", "SecurityKey"],
            path: "Sources/Service/SecurityKeyPresence"),
        .target(
            name: "HardwareSecurity",
            dependencies: [
                "KeyAttestation", "Keybag", "KeychainModel", "KeyServices", "LatchkeyService", "LinuxSystem",
                "SecretMemory", "TrustedPlatformModule",
            ],
            path: "Sources/Service/HardwareSecurity"),
        .target(
            name: "LatchkeyClient",
            dependencies: [
                "CertificateTrust", "FileProtection", "KeychainModel", "KeyServices", "LatchkeyOperations",
                "LatchkeyProtocol",
                "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory", "TransportPolicy",
            ],
            path: "Sources/Service/LatchkeyClient"
        ),

        // Faces: shapes for the caller, no rules.
        .target(
            name: "LatchkeySecurity",
            dependencies: [
                "CertificateTrust", "CryptographicMessages", "KeychainModel", "KeyServices", "LatchkeyClient",
                "LatchkeyService", "LinuxSystem",
                "SecretMemory",
            ],
            path: "Sources/Faces/LatchkeySecurity"
        ),
        .target(name: "Security", dependencies: ["LatchkeySecurity"], path: "Sources/Faces/Security"),
        .target(
            name: "LatchkeyLocalAuthentication",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeySecurity", "LatchkeyService", "LinuxSystem",
                "OpenSSLCrypto", "SecretMemory",
            ],
            path: "Sources/Faces/LatchkeyLocalAuthentication"
        ),
        .target(
            name: "LocalAuthentication", dependencies: ["LatchkeyLocalAuthentication"],
            path: "Sources/Faces/LocalAuthentication"),
        .target(
            name: "Latchkey",
            dependencies: [
                "CertificateTrust", "FileProtection", "KeyAttestation", "KeychainModel", "KeyServices",
                "LatchkeyClient",
                "LatchkeyService", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", .crypto,
            ],
            path: "Sources/Faces/Latchkey"
        ),
        .target(
            name: "LatchkeyFoundation", dependencies: ["Latchkey"], path: "Sources/Faces/LatchkeyFoundation"),
        .target(
            name: "LatchkeyNIOSSL",
            dependencies: [
                "CertificateTrust", "KeychainModel", "LatchkeyClient", "LatchkeySecurity", "LatchkeyService",
                "LinuxSystem", "TransportPolicy", .nioCore, .nioSSL,
            ],
            path: "Sources/Faces/LatchkeyNIOSSL"
        ),
        .target(
            name: "HTTPConnections",
            dependencies: [
                "CertificateTrust", "LatchkeyClient", "LatchkeyNIOSSL", "LatchkeySecurity", "LinuxSystem",
                "SecretMemory", "TransportPolicy", .nioCore, .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL, .nioTLS,
            ],
            path: "Sources/Faces/HTTPConnections"
        ),
        .target(
            name: "LatchkeyURLSession",
            dependencies: [
                "CertificateTrust", "HTTPConnections", "LatchkeyClient", "LatchkeyNIOSSL", "LatchkeySecurity",
                "LinuxSystem", "OpenSSLCrypto", "TransportPolicy", .nioCore,
            ],
            path: "Sources/Faces/LatchkeyURLSession"
        ),
        .target(
            name: "LatchkeyURLSessionDefaults", dependencies: ["LatchkeyURLSession"],
            path: "Sources/Faces/LatchkeyURLSessionDefaults"
        ),
        .target(
            name: "LatchkeyHTTPClient",
            dependencies: [
                "CertificateTrust", "LatchkeyNIOSSL", "TransportPolicy", .asyncHTTPClient, .nioCore, .nioSSL,
            ],
            path: "Sources/Faces/LatchkeyHTTPClient"
        ),
        .target(
            name: "TransportCommands",
            dependencies: [
                "CertificateTrust", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyNIOSSL",
                "LinuxSystem", "TransportPolicy", .argumentParser, .nioCore, .nioPosix, .nioSSL, .nioTLS,
            ],
            path: "Sources/Faces/TransportCommands"
        ),
        .target(
            name: "ProtectedFolder",
            dependencies: [
                "CFileCalls", "FileProtection", "KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
                "UserspaceFileSystem",
            ],
            path: "Sources/Faces/ProtectedFolder"
        ),
        .target(
            name: "MountCommands",
            dependencies: [
                "FileProtection", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyService",
                "LinuxSystem", "ProtectedFolder", .argumentParser,
            ],
            path: "Sources/Faces/MountCommands"
        ),
        .target(
            name: "ImportCommands",
            dependencies: [
                "GnomeKeyringFile", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyService",
                "LinuxSystem", "SecretMemory", "SecretServiceClient", "SystemBus", .argumentParser,
            ],
            path: "Sources/Faces/ImportCommands"
        ),
        .target(
            name: "LatchkeyCommonCrypto",
            dependencies: ["OpenSSLCrypto", "SecretMemory"],
            path: "Sources/Faces/LatchkeyCommonCrypto"
        ),
        // Over the session bus: only latchkey-secret-service uses it.
        .target(
            name: "SecretService",
            dependencies: [
                "KeychainModel", "LatchkeyService", "LinuxSystem", "OpenSSLCrypto", "Presence", "SecretMemory",
                "SecretTransfer", "SystemBus", .log,
            ],
            path: "Sources/Faces/SecretService"
        ),
        .target(
            name: "LatchkeyCommands",
            dependencies: [
                "CertificateTrust", "CryptographicMessages", "FileProtection", "KeyAttestation", "KeychainModel",
                "KeyServices",
                "LatchkeyClient",
                "LatchkeyServer", "LatchkeyService", "LinuxSystem", "SecretMemory", "TransportPolicy",
                .argumentParser,
            ],
            path: "Sources/Faces/LatchkeyCommands"
        ),

        // Executables: wiring only.
        .executableTarget(
            name: "LatchkeyTool",
            dependencies: [
                "HardwareSecurity", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyService",
                "LinuxSystem", "SecurityKeyPresence", "TrustedPlatformModule", .log,
            ],
            path: "Sources/Executables/LatchkeyTool"
        ),
        .executableTarget(
            name: "LatchkeyMount",
            dependencies: ["LatchkeyClient", "LatchkeyCommands", "LinuxSystem", "MountCommands", .log],
            path: "Sources/Executables/LatchkeyMount"
        ),
        .executableTarget(
            name: "LatchkeyImport",
            dependencies: [
                "HardwareSecurity", "ImportCommands", "KeychainModel", "LatchkeyClient", "LatchkeyCommands",
                "LatchkeyService", "LinuxSystem", "TrustedPlatformModule", .log,
            ],
            path: "Sources/Executables/LatchkeyImport"
        ),
        .executableTarget(
            name: "LatchkeyTLSTool",
            dependencies: ["LatchkeyClient", "LatchkeyCommands", "LinuxSystem", "TransportCommands", .log],
            path: "Sources/Executables/LatchkeyTLSTool"
        ),
        .executableTarget(
            name: "LatchkeyDaemon",
            dependencies: [
                "Fingerprint", "HardwareSecurity", "KeychainModel", "LatchkeyClient", "LatchkeyServer",
                "LatchkeyService", "LinuxSystem", "LoginSession", "Presence", "SecurityKeyPresence",
                "TrustedPlatformModule", .argumentParser, .log,
            ],
            path: "Sources/Executables/LatchkeyDaemon"
        ),

        .executableTarget(
            name: "LatchkeySecretService",
            dependencies: [
                "HardwareSecurity", "KeychainModel", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory",
                "SecretService", "SecurityKeyPresence", "SystemBus", "TrustedPlatformModule", .argumentParser, .log,
            ],
            path: "Sources/Executables/LatchkeySecretService"
        ),

        .executableTarget(
            name: "BiometryDigest", dependencies: ["EnrolledPrints", "LinuxSystem"],
            path: "Sources/Executables/BiometryDigest"),

        // Tests.
        .target(
            name: "KeychainTesting",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeyOperations", "LatchkeyServer", "LatchkeyService",
                "LinuxSystem", "Presence", "SecretMemory",
            ],
            path: "Tests/KeychainTesting"
        ),
        .testTarget(name: "ArchitectureTests"),
        .testTarget(
            name: "FoundationsTests",
            dependencies: [
                "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "SQLiteConnections", "KeychainTesting", .crypto,
            ]),
        .testTarget(
            name: "SystemBusTests", dependencies: ["LinuxSystem", "SecretMemory", "SystemBus", "KeychainTesting"]),
        // The software authenticator.
        .target(
            name: "SecurityKeyTesting", dependencies: ["SecurityKey", "OpenSSLCrypto", "SecretMemory"],
            path: "Tests/SecurityKeyTesting"),
        .testTarget(
            name: "SecurityKeyTests",
            dependencies: ["SecurityKey", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "SecurityKeyTesting"]),
        .testTarget(
            name: "SecurityKeyPresenceTests",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeyServer", "LatchkeyService", "LinuxSystem", "Presence",
                "SecretMemory", "SecurityKey", "SecurityKeyPresence", "KeychainTesting", "SecurityKeyTesting",
            ]),
        // swtpm, for tests.
        .target(
            name: "TPMTesting", dependencies: ["LinuxSystem", "TrustedPlatformModule", "KeychainTesting"],
            path: "Tests/TPMTesting"),
        .testTarget(
            name: "TrustedPlatformModuleTests",
            dependencies: [
                "LinuxSystem", "SecretMemory", "TrustedPlatformModule", "KeychainTesting", "TPMTesting", .crypto,
            ]),
        .testTarget(
            name: "HardwareSecurityTests",
            dependencies: [
                "CertificateTrust", "HardwareSecurity", "KeyAttestation", "Keybag", "KeychainModel", "KeyServices",
                "Latchkey", "LatchkeyClient", "LatchkeyDaemon", "LatchkeyLocalAuthentication",
                "LatchkeySecurity", "LatchkeyService", "LatchkeyTool", "LinuxSystem", "SecretMemory",
                "TrustedPlatformModule", "KeychainTesting", "TPMTesting", .crypto,
            ]),
        .testTarget(name: "KeychainModelTests", dependencies: ["KeychainModel", "SecretMemory"]),
        .testTarget(
            name: "KeybagTests",
            dependencies: ["Keybag", "KeychainModel", "LinuxSystem", "SecretMemory", "KeychainTesting", .crypto]),
        .testTarget(
            name: "KeychainStoreTests",
            dependencies: [
                "Keybag", "KeychainModel", "KeychainStore", "LinuxSystem", "SecretMemory", "SQLiteConnections",
                "KeychainTesting", .crypto,
            ],
            exclude: ["Vectors"]
        ),
        .testTarget(
            name: "FileProtectionTests",
            dependencies: [
                "CLatchkey", "FileProtection", "KeychainModel", "LinuxSystem", "SecretMemory", "KeychainTesting",
                .crypto,
            ],
            exclude: ["Vectors"]
        ),
        .target(
            name: "FolderTesting", dependencies: ["FileProtection", "KeychainModel", "LinuxSystem", "SecretMemory"],
            path: "Tests/FolderTesting"
        ),
        // The process that the tests of mounted folders start and kill. Not a product.
        .executableTarget(
            name: "FolderTool",
            dependencies: ["FileProtection", "FolderTesting", "KeychainModel", "LinuxSystem", "ProtectedFolder"],
            path: "Tests/FolderTool"
        ),
        .testTarget(
            name: "ProtectedFolderTests",
            dependencies: [
                "CFileCalls", "FileProtection", "FolderTesting", "FolderTool", "KeychainModel", "KeychainTesting",
                "Latchkey", "LatchkeyClient", "LatchkeyMount", "LatchkeyService", "LatchkeyTool", "LinuxSystem",
                "OpenSSLCrypto", "ProtectedFolder", "SecretMemory", "UserspaceFileSystem",
            ]
        ),
        .testTarget(
            name: "KeyServicesTests",
            dependencies: ["KeychainModel", "KeyServices", "SecretMemory", "KeychainTesting", .crypto]),
        .testTarget(
            name: "CertificateTrustTests",
            dependencies: ["CertificateTrust", "OpenSSLCrypto", "KeychainTesting", .crypto]),
        .testTarget(
            name: "CryptographicMessagesTests",
            dependencies: [
                "CertificateTrust", "CryptographicMessages", "KeychainModel", "KeyServices", "OpenSSLCrypto",
                "KeychainTesting",
            ]),
        .testTarget(
            name: "TransportPolicyTests",
            dependencies: ["CertificateTrust", "LinuxSystem", "TransportPolicy", "KeychainTesting"],
            exclude: ["Tables"]
        ),
        .testTarget(
            name: "PresenceTests",
            dependencies: ["KeychainModel", "LinuxSystem", "Presence", "SecretMemory", "KeychainTesting"],
            resources: [.copy("Golden")]
        ),
        .testTarget(
            name: "GnomeKeyringFileTests",
            dependencies: ["GnomeKeyringFile", "OpenSSLCrypto", "SecretMemory", "KeychainTesting"],
            exclude: ["Vectors"]
        ),
        .testTarget(
            name: "EnrolledPrintsTests",
            dependencies: ["BiometryDigest", "EnrolledPrints", "KeychainModel", "LinuxSystem", "KeychainTesting"]),
        .testTarget(
            name: "FingerprintTests",
            dependencies: [
                "BiometryDigest", "EnrolledPrints", "Fingerprint", "KeychainModel", "LatchkeyDaemon", "LatchkeyTool",
                "LinuxSystem", "Presence", "SystemBus", "KeychainTesting",
            ]),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeyDaemon", "LatchkeySecretService", "LatchkeyService",
                "LatchkeyTool", "LinuxSystem", "OpenSSLCrypto", "Presence", "SecretMemory", "SecretService",
                "SecretTransfer",
                "SystemBus", "KeychainTesting", .log,
            ]
        ),
        .testTarget(
            name: "ImportCommandsTests",
            dependencies: [
                "ImportCommands", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyImport",
                "LatchkeySecretService", "LatchkeyService", "LatchkeyTool", "LinuxSystem", "SecretMemory",
                "SecretServiceClient", "SecretTransfer", "SystemBus", "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LatchkeyProtocolTests", dependencies: ["LatchkeyProtocol", "LinuxSystem", "SecretMemory"]),
        .testTarget(
            name: "LatchkeyOperationsTests",
            dependencies: [
                "KeychainModel", "LatchkeyOperations", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "Presence",
                "SecretMemory", "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LatchkeyServerTests",
            dependencies: [
                "KeychainModel", "LatchkeyClient", "LatchkeyOperations", "LatchkeyProtocol", "LatchkeyServer",
                "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory", "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LoginSessionTests",
            dependencies: [
                "LatchkeyDaemon", "LatchkeyServer", "LatchkeyTool", "LinuxSystem", "LoginSession", "SystemBus",
                "KeychainTesting", .log,
            ]
        ),
        .testTarget(
            name: "LatchkeyServiceTests",
            dependencies: [
                "KeychainModel", "Latchkey", "LatchkeyService", "LatchkeyClient", "LinuxSystem", "Presence",
                "SecretMemory", "TransportPolicy", "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "LatchkeySecurity", "KeychainModel", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory",
                "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LatchkeyNIOSSLTests",
            dependencies: [
                "CertificateTrust", "LatchkeyNIOSSL", "LatchkeySecurity", "TransportPolicy", "KeychainTesting",
                .nioCore, .nioPosix, .nioSSL, .nioTLS,
            ]
        ),
        .testTarget(
            name: "HTTPConnectionsTests",
            dependencies: [
                "CertificateTrust", "HTTPConnections", "LatchkeyNIOSSL", "LatchkeySecurity", "LinuxSystem",
                "TransportPolicy", "KeychainTesting", .nioCore, .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL,
            ]
        ),
        .testTarget(
            name: "LatchkeyURLSessionTests",
            dependencies: [
                "CertificateTrust", "HTTPConnections", "KeychainModel", "LatchkeyClient", "LatchkeyNIOSSL",
                "LatchkeySecurity", "LatchkeyURLSession", "LatchkeyURLSessionDefaults", "LinuxSystem", "SecretMemory",
                "TransportPolicy", "KeychainTesting", "LatchkeyTool", "TransportWorker", .nioCore, .nioHTTP1,
                .nioHTTP2, .nioPosix, .nioSSL,
            ]
        ),
        // A program with an Info.plist beside it, which the tests start. Not a product.
        .executableTarget(
            name: "TransportWorker", dependencies: ["LatchkeyURLSession", "LatchkeyURLSessionDefaults"],
            path: "Tests/TransportWorker"),
        .testTarget(
            name: "LatchkeyHTTPClientTests",
            dependencies: [
                "CertificateTrust", "LatchkeyHTTPClient", "LatchkeyNIOSSL", "TransportPolicy", "KeychainTesting",
                .asyncHTTPClient, .nioCore, .nioHTTP1,
            ]
        ),
        .testTarget(
            name: "TransportCommandsTests",
            dependencies: [
                "CertificateTrust", "LatchkeyClient", "LatchkeyHTTPClient", "LatchkeyNIOSSL", "LatchkeyTLSTool",
                "LatchkeyTool", "LatchkeyURLSession", "LinuxSystem", "TransportCommands", "TransportPolicy",
                "KeychainTesting", .asyncHTTPClient, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .nioTLS,
            ],
            resources: [.copy("Golden")]
        ),
        .testTarget(
            name: "LocalAuthenticationTests",
            dependencies: [
                "LatchkeyLocalAuthentication", "LatchkeySecurity", "KeychainModel", "KeyServices", "LatchkeyClient",
                "LatchkeyOperations", "LatchkeyService", "Presence", "SecretMemory", "KeychainTesting",
            ]
        ),
        .testTarget(
            name: "LatchkeyFoundationTests",
            dependencies: ["Latchkey", "LatchkeyFoundation", "KeychainTesting"]),
        .testTarget(
            name: "LatchkeyTests",
            dependencies: [
                "Latchkey", "KeychainModel", "LatchkeyClient", "LatchkeyService", "SecretMemory", "KeychainTesting",
                .crypto,
            ]),
        .testTarget(
            name: "LatchkeyCommonCryptoTests", dependencies: ["LatchkeyCommonCrypto", "KeychainTesting", .crypto]),
        .testTarget(
            name: "LatchkeyCommandsTests",
            dependencies: [
                "LatchkeyCommands", "LatchkeyTool", "CertificateTrust", "KeychainModel", "Latchkey", "LatchkeyClient",
                "LatchkeyOperations", "LatchkeyService", "LinuxSystem", "SecretMemory", "SecurityKeyPresence",
                "KeychainTesting", "SecurityKeyTesting", .argumentParser,
            ],
            resources: [.copy("Golden")]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "LatchkeySecurity", "Latchkey", "BiometryDigest", "LatchkeyDaemon", "LatchkeyServer", "LatchkeyTool",
                "Keybag", "KeychainModel", "KeychainStore",
                "LatchkeyClient", "LatchkeyService",
                "HardwareSecurity", "LinuxSystem", "SecretMemory", "SQLiteConnections", "TrustedPlatformModule",
                "KeychainTesting", "ProofWorker", "TPMTesting",
            ],
            exclude: ["Recipes", "Vectors"]
        ),
        // The process that the concurrency, crash and fork proofs start, kill and fork. Not a product.
        .executableTarget(
            name: "ProofWorker",
            dependencies: [
                "CLatchkey", "FileProtection", "KeychainModel", "Latchkey", "LatchkeyClient", "LatchkeyService",
                "LatchkeySecurity", "LinuxSystem", "SecretMemory",
            ],
            path: "Tests/ProofWorker"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets
where ![
    "CFido2", "CFileCalls", "CFuse3", "CLatchkey", "COpenSSL", "CSQLiteCalls", "CSystemd", "CTSS2",
].contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

// The tests of a module that has Apple's shape name it as an app does.
let aliases = [
    "SecurityTests": ["Security=LatchkeySecurity"],
    "LatchkeyCommonCryptoTests": ["CommonCrypto=LatchkeyCommonCrypto"],
    "LocalAuthenticationTests": ["LocalAuthentication=LatchkeyLocalAuthentication", "Security=LatchkeySecurity"],
]
for target in package.targets {
    let flags = aliases[target.name, default: []].flatMap { ["-module-alias", $0] }
    if !flags.isEmpty { target.swiftSettings?.append(.unsafeFlags(flags)) }
}

// `make sdk`: the interfaces of these modules are the same for each compiler and each later version, and programs that
// import them link libLatchkeySecurity, which has all of them.
if Context.environment["LATCHKEY_SDK"] == "1" {
    let modules = ["LatchkeySecurity", "LatchkeyLocalAuthentication", "LatchkeyCommonCrypto"]
    for target in package.targets where modules.contains(target.name) {
        target.swiftSettings?.append(
            .unsafeFlags([
                "-enable-library-evolution", "-emit-module-interface", "-no-verify-emitted-module-interface",
                "-module-link-name", "LatchkeySecurity", "-suppress-warnings",
            ]))
    }
    package.products.append(.library(name: "LatchkeySDK", type: .static, targets: modules))
}

// The project's own builds (make, CI) stop at warnings; a newer compiler's warnings stop no other build.
if Context.environment["LATCHKEY_STRICT"] == "1" {
    for target in package.targets where target.swiftSettings != nil {
        target.swiftSettings?.insert(.treatAllWarnings(as: .error), at: 0)
    }
}

extension Target.Dependency {
    static var argumentParser: Self {
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .tools)
    }
    static var asn1: Self { .product(name: "SwiftASN1", package: "swift-asn1") }
    static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
    static var log: Self { .product(name: "Logging", package: "swift-log") }
    static var nioCore: Self { .product(name: "NIOCore", package: "swift-nio", condition: .transport) }
    static var asyncHTTPClient: Self {
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .httpClient)
    }
    static var nioHTTP1: Self { .product(name: "NIOHTTP1", package: "swift-nio", condition: .transport) }
    static var nioHTTP2: Self { .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .transport) }
    static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio", condition: .transport) }
    static var nioTLS: Self { .product(name: "NIOTLS", package: "swift-nio", condition: .transport) }
    static var nioSSL: Self { .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .transport) }
    static var protobuf: Self { .product(name: "SwiftProtobuf", package: "swift-protobuf") }
}

extension TargetDependencyCondition {
    /// Resolved only where the trait is enabled: a consumer of the libraries neither fetches nor builds
    /// what the executables need.
    static var tools: Self? { .when(traits: ["Tools"]) }
    /// Resolved only where the trait is enabled, as with `tools`.
    static var transport: Self? { .when(traits: ["Transport"]) }
    /// The same for async-http-client, which brings many packages.
    static var httpClient: Self? { .when(traits: ["HTTPClient"]) }
}
