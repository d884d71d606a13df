// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks the rules for modules (Documentation/Decisions/0001-layers-and-imports.md) against the
/// sources.
@Suite("Architecture")
struct ArchitectureTests {
    static let modules = ModuleTable()
    /// Modules that may import FoundationNetworking, a module of the toolchain.
    static let withNetworking: Set<String> = ["LatchkeyRedirections", "LatchkeySecurity", "LatchkeyURLSession"]
    /// Modules of the toolchain that every module may import.
    static let standard: Set<String> = ["Glibc", "Synchronization", "Dispatch", "FoundationEssentials"]
    /// Modules with types of the whole of Foundation in their API. Foundation contains ICU: a program that links these
    /// modules is some megabytes larger, and starts more slowly.
    static let withFoundation: Set<String> = [
        "HTTPConnections", "LatchkeyFoundation", "LatchkeyHTTPClient", "LatchkeyLocalAuthentication", "LatchkeyNIOSSL",
        "LatchkeyRedirections", "LatchkeySecurity", "LatchkeyURLSession",
    ]

    @Test("Every module has only imports that the table allows", arguments: modules.edges.keys.sorted())
    func imports(_ module: String) throws {
        let foundation: Set = Self.withFoundation.contains(module) ? ["Foundation"] : []
        let networking: Set = Self.withNetworking.contains(module) ? ["FoundationNetworking"] : []
        let allowed = try #require(Self.modules.edges[module]).union(Self.standard).union(foundation).union(networking)
        let files = try Sources.files(of: module)
        #expect(!files.isEmpty, "there is no module \(module)")
        // Generated code imports Foundation where there is no FoundationEssentials.
        for file in files where !file.path.contains("/Generated/") {
            // Swift itself is named for its interface for reflection.
            for imported in file.imports where imported != "Swift" {
                #expect(allowed.contains(imported), "\(file.name) imports \(imported)")
            }
        }
    }

    @Test("Every module of Sources is in the table")
    func allModules() throws {
        #expect(Set(try Sources.modules()) == Set(Self.modules.edges.keys).union(Self.modules.headers))
    }

    @Test("A module sees only modules that stand above it in the table: arrows point down")
    func arrows() {
        var lower = Self.modules.headers
        for (module, seen) in Self.modules.lines {
            let unknown = seen.subtracting(lower).filter { Self.modules.edges[$0] != nil }
            #expect(unknown.isEmpty, "\(module) sees \(unknown)")
            lower.insert(module)
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

    @Test("[String: Any] and [CFString: Any] stay in LatchkeySecurity")
    func dictionaries() throws {
        // CustomNSError requires such a dictionary.
        let allowed: Set<String> = ["KeychainError+NSError.swift", "LAError.swift"]
        for module in Self.modules.edges.keys where module != "LatchkeySecurity" {
            for file in try Sources.files(of: module) where !allowed.contains(file.name) {
                for dictionary in ["[String: Any]", "[CFString: Any]"] {
                    #expect(!file.withoutComments.contains(dictionary), "\(file.name)")
                }
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

    @Test("Public modules use a keychain through a session with the caller")
    func sessions() throws {
        for module in [
            "LatchkeySecurity", "LatchkeyLocalAuthentication", "Latchkey", "LatchkeyCommands", "LatchkeyNIOSSL",
            "LatchkeyHTTPClient",
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
