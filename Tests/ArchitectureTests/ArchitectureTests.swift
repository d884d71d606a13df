// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The house rules of ARCHITECTURE.md, held against the sources.
@Suite("Architecture")
struct ArchitectureTests {
    /// Which rooms a room may import, and which foreign modules. Everything below stands to the left of what stands on it.
    static let edges: [String: Set<String>] = [
        "LinuxSystem": ["CLatchkey"],
        "OpenSSLCrypto": ["COpenSSL", "SecretMemory"],
        "SecretMemory": ["CLatchkey", "LinuxSystem"],
        "KeychainModel": ["SecretMemory"],
        "Keybag": ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "Crypto"],
        "KeychainStore": [
            "CLatchkey", "KeychainModel", "Keybag", "LinuxSystem", "OpenSSLCrypto", "SecretMemory", "Crypto", "GRDB", "GRDBSQLite",
        ],
        "CertificateTrust": ["KeychainModel", "LinuxSystem", "OpenSSLCrypto", "SwiftASN1", "Crypto"],
        "KeyServices": ["KeychainModel", "OpenSSLCrypto", "SecretMemory"],
        "LatchkeyService": ["KeychainModel", "Keybag", "KeychainStore", "KeyServices", "LinuxSystem", "SecretMemory", "Logging"],
        "LatchkeyProtocol": ["KeychainModel", "LinuxSystem", "SecretMemory", "SwiftProtobuf"],
        "LatchkeyServer": ["KeychainModel", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "SecretMemory", "Logging"],
        "LatchkeyClient": [
            "CertificateTrust", "KeychainModel", "KeyServices", "LatchkeyProtocol", "LatchkeyService", "LinuxSystem", "SecretMemory",
        ],
        "Security": [
            "CertificateTrust", "KeychainModel", "KeyServices", "LatchkeyClient", "LatchkeyService", "LinuxSystem", "SecretMemory",
            "FoundationNetworking",
        ],
        "Latchkey": ["KeychainModel", "KeyServices", "LatchkeyClient", "LatchkeyService", "SecretMemory", "Crypto"],
        "LatchkeyCommands": [
            "CertificateTrust", "KeychainModel", "KeyServices", "LatchkeyClient", "LatchkeyServer", "LatchkeyService", "LinuxSystem",
            "SecretMemory",
            "ArgumentParser",
        ],
        "LatchkeyDaemon": [
            "KeychainModel", "LatchkeyClient", "LatchkeyServer", "LatchkeyService", "LinuxSystem", "ArgumentParser", "Logging",
            "ServiceLifecycle", "UnixSignals",
        ],
        "LatchkeyTool": ["LatchkeyClient", "LatchkeyCommands", "LinuxSystem", "Logging"],
    ]

    /// Modules of the toolchain that any room may import, except where ``withoutFoundation`` says otherwise.
    static let standard: Set<String> = ["Glibc", "Synchronization", "Dispatch", "Foundation", "FoundationEssentials"]
    /// Rooms that start fast because they do without the whole of Foundation.
    static let withoutFoundation = [
        "LinuxSystem", "SecretMemory", "KeychainModel", "KeychainStore", "LatchkeyService", "LatchkeyProtocol", "LatchkeyServer",
        "LatchkeyClient", "LatchkeyCommands", "KeyServices",
    ]

    @Test("Every room imports only what the table allows", arguments: edges.keys.sorted())
    func imports(_ room: String) throws {
        let allowed = try #require(Self.edges[room]).union(Self.standard)
        let files = try Sources.files(of: room)
        #expect(!files.isEmpty, "there is no room \(room)")
        for file in files {
            for module in file.imports {
                #expect(allowed.contains(module), "\(file.name) imports \(module)")
                if Self.withoutFoundation.contains(room) { #expect(module != "Foundation", "\(file.name) imports Foundation") }
            }
        }
    }

    @Test("Every room of Sources stands in the table")
    func allRooms() throws {
        #expect(Set(try Sources.rooms()) == Set(Self.edges.keys).union(["CLatchkey", "COpenSSL"]))
    }

    @Test("The manifest declares the same edges between our rooms")
    func manifest() throws {
        let manifest = try String(contentsOf: Sources.root.appending(path: "Package.swift"), encoding: .utf8)
        let text = manifest[try #require(manifest.range(of: "    targets: [\n")).upperBound...]
        let ours = Set(Self.edges.keys).union(["CLatchkey", "COpenSSL"])
        for (room, modules) in Self.edges {
            let start = try #require(text.range(of: "name: \"\(room)\","), "\(room)")
            let declaration = text[start.upperBound...].prefix { $0 != ")" }
            let declared = Set(ours.filter { $0 != room && declaration.contains("\"\($0)\"") })
            #expect(declared == modules.intersection(ours), "\(room)")
        }
    }

    @Test(
        "Library rooms do not trap on input, print, or silence errors",
        arguments: [
            #"\bfatalError\("#, #"\btry!"#, #"\bas!"#, #"\bprint\("#, #"\bdebugPrint\("#, #"catch \{\s*\}"#, #"\bTODO\b|\bFIXME\b|\bXXX\b"#,
        ])
    func forbidden(_ pattern: String) throws {
        let expression = try NSRegularExpression(pattern: pattern)
        for file in try Sources.all() {
            let code = file.withoutComments
            let count = expression.numberOfMatches(in: code, range: NSRange(code.startIndex..., in: code))
            #expect(count == 0, "\(pattern) in \(file.name)")
        }
    }

    @Test(
        "What the compiler is told to believe carries a reason",
        arguments: ["@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast", "preconditionFailure"])
    func reasons(_ spelling: String) throws {
        for file in try Sources.all() where file.withoutComments.contains(spelling) {
            #expect(file.text.contains("because") || file.text.contains("///"), "\(file.name) uses \(spelling) and does not say why")
        }
    }

    @Test("Each danger has one door")
    func doors() throws {
        let doors: [(pattern: String, files: Set<String>)] = [
            ("AES.GCM", ["RowCryptography.swift"]), ("KeyDerivation.hkdf", ["KeybagCryptography.swift"]), ("HKDF<", []),
            ("AES.KeyWrap", ["KeybagCryptography.swift"]),
            ("sqlite3_", ["RowStatement.swift"]), ("AuthorizedCaller(", ["Authoriser.swift"]),
            ("case let certificate as SecCertificate", ["ItemReference.swift"]),
            ("import SwiftProtobuf", ["Coding.swift", "Request+Coding.swift", "Response+Coding.swift"]),
            (
                "X509_",
                [
                    "KeyEncoding.swift", "KeyEncryption.swift", "PasswordRounds.swift", "PKCS12Archive+Reading.swift",
                    "PKCS12Archive+Writing.swift",
                ]
            ),
        ]
        for (pattern, files) in doors {
            let found = Set(try Sources.all().filter { $0.withoutComments.contains(pattern) }.map(\.name))
            #expect(found == files, "\(pattern)")
        }
    }

    @Test("[String: Any] stays in the face Security")
    func dictionaries() throws {
        let allowed: Set<String> = []
        for room in Self.edges.keys where room != "Security" {
            for file in try Sources.files(of: room) where file.withoutComments.contains("[String: Any]") {
                #expect(allowed.contains(file.name), "\(file.name)")
            }
        }
    }

    @Test("Security extends no type of the rooms below, which its importers cannot see")
    func hiddenTypes() throws {
        let hidden = try ["KeychainModel", "SecretMemory", "LinuxSystem", "LatchkeyService", "LatchkeyClient"].flatMap { room in
            try Sources.files(of: room).map { $0.name.replacingOccurrences(of: ".swift", with: "") }
        }
        let extras = ["ItemQuery", "ItemUpdate", "ItemAddition", "MatchOptions", "ReturnTypes", "MatchLimit"]
        for file in try Sources.files(of: "Security") {
            for name in hidden + extras {
                let isExtended = ["\(name) ", "\(name):", "\(name)."].contains { file.withoutComments.contains("extension \($0)") }
                #expect(!isExtended, "\(file.name) extends \(name)")
            }
        }
    }

    @Test("Every file says its licence first")
    func licences() throws {
        for file in try Sources.all() {
            #expect(file.text.hasPrefix("// SPDX-License-Identifier: Apache-2.0\n"), "\(file.name)")
        }
    }
}

/// The Swift files of the package.
enum Sources {
    struct File {
        let name: String
        let text: String

        /// The modules that the file imports.
        var imports: [String] {
            withoutComments.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ").map(String.init)
                guard let position = words.firstIndex(of: "import"), !line.hasPrefix(" "), words.count > position + 1 else { return nil }
                let kinds = ["struct", "class", "enum", "func", "protocol", "typealias", "let", "var"]
                let path = kinds.contains(words[position + 1]) ? words[position + 2] : words[position + 1]
                return path.split(separator: ".").first.map(String.init)
            }
        }

        var withoutComments: String {
            text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.trimmingCharacters(in: .whitespaces).hasPrefix("//") ? "" : String(line)
            }.joined(separator: "\n")
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folders two levels below `Sources`.
    static func rooms() throws -> [String] {
        try layers().flatMap { try entries(of: $0).map(\.lastPathComponent) }
    }

    static func files(of room: String) throws -> [File] {
        try layers().flatMap { try entries(of: $0) }.filter { $0.lastPathComponent == room }.flatMap(files(below:))
    }

    static func all() throws -> [File] {
        try files(below: root.appending(path: "Sources"))
    }

    private static func layers() throws -> [URL] {
        try entries(of: root.appending(path: "Sources"))
    }

    private static func entries(of directory: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil).filter { $0.hasDirectoryPath }
    }

    private static func files(below directory: URL) throws -> [File] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift") }
            .map { path in
                File(
                    name: String(path.split(separator: "/").last ?? ""),
                    text: try String(contentsOf: directory.appending(path: path), encoding: .utf8))
            }
    }
}
