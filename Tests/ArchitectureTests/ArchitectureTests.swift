// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks the rules for modules (Documentation/Decisions/0001-layers-and-imports.md) against the
/// sources.
@Suite("Architecture")
struct ArchitectureTests {
    /// The modules, of this package and of others, that each module may import. Listed by layer,
    /// the lowest first.
    static let edges: [String: Set<String>] = [
        "LinuxSystem": ["CLatchkey"],
        "OpenSSLCrypto": ["COpenSSL", "LinuxSystem", "SecretMemory"],
        "SecretMemory": ["CLatchkey", "LinuxSystem"],
        "SQLiteConnections": ["CSQLiteCalls"],
        "SystemBus": ["CSystemd", "LinuxSystem", "SecretMemory"],
        "SecurityKey": ["CFido2", "LinuxSystem", "SecretMemory"],
        "TrustedPlatformModule": ["CTSS2", "LinuxSystem", "OpenSSLCrypto", "SecretMemory"],
        "UserspaceFileSystem": ["CFuse3", "LinuxSystem"],
        "KeychainModel": ["SecretMemory"],
        "Keybag": ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "Crypto"],
        "KeychainStore": [
            "CLatchkey", "KeychainModel", "Keybag", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
            "SQLiteConnections", "Crypto",
        ],
        "CertificateTrust": ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SwiftASN1", "Crypto"],
        "KeyServices": ["KeychainModel", "OpenSSLCrypto", "SecretMemory"],
        "FileProtection": ["CLatchkey", "KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "Crypto"],
        "KeyAttestation": ["CertificateTrust", "KeychainModel", "KeyServices", "OpenSSLCrypto", "SecretMemory"],
        "CryptographicMessages": [
            "CertificateTrust", "KeychainModel", "KeyServices", "OpenSSLCrypto", "SecretMemory",
        ],
        "TransportPolicy": ["CertificateTrust", "LinuxSystem"],
        "Presence": ["KeychainModel", "LinuxSystem", "SecretMemory"],
        "EnrolledPrints": ["KeychainModel", "LinuxSystem", "OpenSSLCrypto"],
        "GnomeKeyringFile": ["OpenSSLCrypto", "SecretMemory"],
        "SecretTransfer": ["LinuxSystem", "OpenSSLCrypto", "SecretMemory", "SystemBus"],
        "SecretServiceClient": ["LinuxSystem", "SecretMemory", "SecretTransfer", "SystemBus"],
        "Fingerprint": ["EnrolledPrints", "KeychainModel", "LinuxSystem", "Presence", "SystemBus"],
        "LatchkeyService": [
            "FileProtection", "KeychainModel", "Keybag", "KeychainStore", "KeyServices", "LinuxSystem", "Presence",
            "SecretMemory",
            "Logging",
        ],
        "LatchkeyProtocol": ["KeychainModel", "LinuxSystem", "SecretMemory", "SwiftProtobuf"],
        "LatchkeyOperations": [
            "KeychainModel", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory",
        ],
        "LatchkeyServer": [
            "KeychainModel", "LatchkeyOperations", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "Presence",
            "SecretMemory", "Logging",
        ],
        "LoginSession": ["LatchkeyServer", "LinuxSystem", "SystemBus", "Logging"],
        "SecurityKeyPresence": ["KeychainModel", "LatchkeyService", "LinuxSystem", "SecretMemory", "SecurityKey"],
        "HardwareSecurity": [
            "KeyAttestation", "Keybag", "KeychainModel", "KeyServices", "LatchkeyService", "LinuxSystem",
            "SecretMemory", "TrustedPlatformModule",
        ],
        "LatchkeyClient": [
            "CertificateTrust", "FileProtection", "KeychainModel", "KeyServices", "LatchkeyOperations",
            "LatchkeyProtocol",
            "LatchkeyService", "LinuxSystem", "Presence", "SecretMemory", "TransportPolicy",
        ],
        "LatchkeySecurity": [
            "CertificateTrust", "CryptographicMessages", "KeychainModel", "KeyServices", "LatchkeyClient",
            "LatchkeyService", "LinuxSystem",
            "SecretMemory",
            "FoundationNetworking",
        ],
        "Latchkey": [
            "CertificateTrust", "FileProtection", "KeyAttestation", "KeychainModel", "KeyServices", "LatchkeyClient",
            "LatchkeyService",
            "LinuxSystem", "OpenSSLCrypto",
            "SecretMemory",
            "Crypto",
        ],
        "LatchkeyFoundation": ["Latchkey"],
        "LatchkeyCommonCrypto": ["OpenSSLCrypto", "SecretMemory"],
        "LatchkeyNIOSSL": [
            "CertificateTrust", "KeychainModel", "LatchkeyClient", "LatchkeySecurity", "LatchkeyService", "LinuxSystem",
            "TransportPolicy", "NIOCore", "NIOSSL",
        ],
        "LatchkeyHTTPClient": [
            "CertificateTrust", "LatchkeyNIOSSL", "TransportPolicy", "AsyncHTTPClient", "NIOCore", "NIOSSL",
        ],
        "HTTPConnections": [
            "CertificateTrust", "LatchkeyClient", "LatchkeyNIOSSL", "LatchkeySecurity", "LinuxSystem", "SecretMemory",
            "TransportPolicy", "NIOCore", "NIOHTTP1", "NIOHTTP2", "NIOPosix", "NIOSSL", "NIOTLS",
        ],
        "LatchkeyURLSession": [
            "CertificateTrust", "HTTPConnections", "LatchkeyClient", "LatchkeyNIOSSL", "LatchkeySecurity",
            "LinuxSystem", "OpenSSLCrypto", "TransportPolicy", "FoundationNetworking", "NIOCore",
        ],
        "LatchkeyURLSessionDefaults": ["LatchkeyURLSession", "FoundationNetworking"],
        "Security": ["LatchkeySecurity"],
        "LatchkeyLocalAuthentication": [
            "KeychainModel", "LatchkeyClient", "LatchkeySecurity", "LatchkeyService", "LinuxSystem", "OpenSSLCrypto",
            "SecretMemory",
        ],
        "LocalAuthentication": ["LatchkeyLocalAuthentication"],
        "LatchkeyCommands": [
            "CertificateTrust", "CryptographicMessages", "FileProtection", "KeyAttestation", "KeychainModel",
            "KeyServices", "LatchkeyClient",
            "LatchkeyServer",
            "LatchkeyService",
            "LinuxSystem",
            "SecretMemory", "TransportPolicy",
            "ArgumentParser",
        ],
        "TransportCommands": [
            "CertificateTrust", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyNIOSSL", "LinuxSystem",
            "TransportPolicy", "ArgumentParser", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS",
        ],
        "ProtectedFolder": [
            "CFileCalls", "FileProtection", "KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory",
            "UserspaceFileSystem",
        ],
        "MountCommands": [
            "FileProtection", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyService", "LinuxSystem",
            "ProtectedFolder", "ArgumentParser",
        ],
        "ImportCommands": [
            "GnomeKeyringFile", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyService", "LinuxSystem",
            "SecretMemory", "SecretServiceClient", "SystemBus", "ArgumentParser",
        ],
        "SecretService": [
            "KeychainModel", "LatchkeyService", "LinuxSystem", "OpenSSLCrypto", "Presence", "SecretMemory",
            "SecretTransfer", "SystemBus", "Logging",
        ],
        "LatchkeySecretService": [
            "HardwareSecurity", "KeychainModel", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory",
            "SecretService", "SecurityKeyPresence", "SystemBus", "TrustedPlatformModule", "ArgumentParser", "Logging",
        ],
        "LatchkeyMount": ["LatchkeyClient", "LatchkeyCommands", "LinuxSystem", "MountCommands", "Logging"],
        "LatchkeyImport": [
            "HardwareSecurity", "ImportCommands", "KeychainModel", "LatchkeyClient", "LatchkeyCommands",
            "LatchkeyService", "LinuxSystem", "TrustedPlatformModule", "Logging",
        ],
        "LatchkeyTLSTool": ["LatchkeyClient", "LatchkeyCommands", "LinuxSystem", "TransportCommands", "Logging"],
        "LatchkeyDaemon": [
            "Fingerprint", "HardwareSecurity", "KeychainModel", "LatchkeyClient", "LatchkeyServer", "LatchkeyService",
            "LinuxSystem", "LoginSession", "Presence", "SecurityKeyPresence", "TrustedPlatformModule",
            "ArgumentParser", "Logging",
        ],
        "BiometryDigest": ["EnrolledPrints", "LinuxSystem"],
        "LatchkeyTool": [
            "HardwareSecurity", "KeychainModel", "LatchkeyClient", "LatchkeyCommands", "LatchkeyService", "LinuxSystem",
            "SecurityKeyPresence", "TrustedPlatformModule", "Logging",
        ],
    ]

    /// Modules without Swift code: C functions of our own, and the headers of libraries.
    static let headers: Set<String> = [
        "CFido2", "CFileCalls", "CFuse3", "CLatchkey", "COpenSSL", "CSQLiteCalls", "CSystemd", "CTSS2",
    ]
    /// Modules of the toolchain that every module may import, except as ``withoutFoundation`` says.
    static let standard: Set<String> = ["Glibc", "Synchronization", "Dispatch", "Foundation", "FoundationEssentials"]
    /// Modules that must start fast, and therefore import only FoundationEssentials.
    static let withoutFoundation = [
        "LinuxSystem", "SecretMemory", "SecurityKey", "SQLiteConnections", "SystemBus", "TrustedPlatformModule",
        "HardwareSecurity",
        "KeychainModel", "KeychainStore", "LatchkeyService",
        "LatchkeyProtocol",
        "LatchkeyOperations", "LatchkeyServer", "LoginSession",
        "SecurityKeyPresence", "LatchkeyClient", "LatchkeyCommands", "LatchkeyCommonCrypto", "KeyServices",
        "Presence", "Fingerprint", "EnrolledPrints", "TransportPolicy", "GnomeKeyringFile", "SecretTransfer",
        "SecretServiceClient", "SecretService", "ImportCommands",
    ]

    @Test("Every module imports only what the table allows", arguments: edges.keys.sorted())
    func imports(_ module: String) throws {
        let allowed = try #require(Self.edges[module]).union(Self.standard)
        let files = try Sources.files(of: module)
        #expect(!files.isEmpty, "there is no module \(module)")
        for file in files {
            for module in file.imports {
                #expect(allowed.contains(module), "\(file.name) imports \(module)")
                if Self.withoutFoundation.contains(module) {
                    #expect(module != "Foundation", "\(file.name) imports Foundation")
                }
            }
        }
    }

    @Test("Every module of Sources is in the table")
    func allModules() throws {
        #expect(Set(try Sources.modules()) == Set(Self.edges.keys).union(Self.headers))
    }

    @Test("The manifest declares the same dependencies between our modules")
    func manifest() throws {
        let manifest = try String(contentsOf: Sources.root.appending(path: "Package.swift"), encoding: .utf8)
        let text = manifest[try #require(manifest.range(of: "    targets: [\n")).upperBound...]
        let ours = Set(Self.edges.keys).union(Self.headers)
        for (module, modules) in Self.edges {
            let start = try #require(text.range(of: "name: \"\(module)\","), "\(module)")
            let declaration = text[start.upperBound...].prefix { $0 != ")" }
            let declared = Set(ours.filter { $0 != module && declaration.contains("\"\($0)\"") })
            #expect(declared == modules.intersection(ours), "\(module)")
        }
    }

    @Test(
        "Library modules do not trap on input, print, or silence errors",
        arguments: [
            #"\bfatalError\("#, #"\btry!"#, #"\bas!"#, #"\bprint\("#, #"\bdebugPrint\("#, #"catch \{\s*\}"#,
        ])
    func forbidden(_ pattern: String) throws {
        let expression = try NSRegularExpression(pattern: pattern)
        for file in try Sources.all() {
            let code = file.withoutComments
            let count = expression.numberOfMatches(in: code, range: NSRange(code.startIndex..., in: code))
            #expect(count == 0, "\(pattern) in \(file.name)")
        }
    }

    @Test("No file has a mark of unfinished work, also not in a comment")
    func unfinished() throws {
        // In brackets, so that this line has none.
        let expression = try NSRegularExpression(pattern: #"\b(TO[D]O|FIX[M]E|XX[X])\b"#)
        for file in try Sources.all() {
            let text = file.text
            let count = expression.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
            #expect(count == 0, "\(file.path)")
        }
    }

    @Test("[String: Any] stays in LatchkeySecurity")
    func dictionaries() throws {
        // CustomNSError requires such a dictionary.
        let allowed: Set<String> = ["KeychainError+Foundation.swift", "LAError.swift"]
        for module in Self.edges.keys where module != "LatchkeySecurity" {
            for file in try Sources.files(of: module) where file.withoutComments.contains("[String: Any]") {
                #expect(allowed.contains(file.name), "\(file.name)")
            }
        }
    }

    @Test("Files that parse a caller's dictionary do not use the keychain")
    func parsing() throws {
        let parsing = try Sources.files(of: "LatchkeySecurity").filter {
            $0.path.contains("/Requests/") || $0.name == "KeyGenerationRequest.swift"
                || $0.name == "CertificateFilter.swift"
        }
        #expect(parsing.count > 8)
        for file in parsing { #expect(!file.imports.contains("LatchkeyClient"), "\(file.name)") }
    }

    @Test("Public modules use a keychain through a session, which knows the caller")
    func sessions() throws {
        for module in [
            "LatchkeySecurity", "LatchkeyLocalAuthentication", "Latchkey", "LatchkeyCommands", "LatchkeyNIOSSL",
            "LatchkeyHTTPClient", "ImportCommands",
        ] {
            for file in try Sources.files(of: module) {
                let code = file.withoutComments
                #expect(!code.contains("KeychainService"), "\(file.name)")
                #expect(!code.contains("from: KeychainClient.caller"), "\(file.name)")
            }
        }
    }

    @Test("Every file begins with its license")
    func licenses() throws {
        for file in try Sources.all() {
            #expect(file.text.hasPrefix("// SPDX-License-Identifier: Apache-2.0\n"), "\(file.name)")
        }
    }
}
