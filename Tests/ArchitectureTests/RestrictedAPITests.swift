// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks the table of Documentation/RestrictedAPIs.md against the sources.
@Suite("Restricted APIs")
struct RestrictedAPITests {
    struct RestrictedAPI: Sendable, CustomTestStringConvertible {
        let danger: String
        let spellings: [String]
        let files: Set<String>

        var testDescription: String { danger }
    }

    /// The rows of the table: restricted API, spellings in backticks, files in backticks without
    /// `.swift`.
    static func restrictedAPIs() throws -> [RestrictedAPI] {
        let path = "Documentation/RestrictedAPIs.md"
        let page = try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
        let table = page.components(separatedBy: "| restricted API | spelling | only in |\n").dropFirst().first ?? ""
        return table.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().prefix { $0.hasPrefix("|") }
            .map { row in
                let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                let quoted = cells.map { $0.matches(of: /`([^`]+)`/).map { String($0.1) } }
                return RestrictedAPI(
                    danger: cells.first ?? "", spellings: quoted.count > 1 ? quoted[1] : [],
                    files: Set(quoted.count > 2 ? quoted[2].map { "\($0).swift" } : []))
            }
    }

    @Test("Documentation/RestrictedAPIs.md lists every restricted API that is required")
    func table() throws {
        let spellings = Set(try Self.restrictedAPIs().flatMap(\.spellings))
        let expected: Set = [
            "AES.GCM", "AESGCM.seal", "AESGCM.open", "HMAC<", "HMAC(", "KeyDerivation.hkdf", "HKDF<", "AES.KeyWrap",
            "AESKeyWrap.unwrap",
            "sqlite3_",
            "AuthorizedCaller(", "init(_ error: StoreError", "init(_ error: KeybagError", "init(_ error: SystemError",
            "for (key, value) in", "import SwiftProtobuf", "X509_", "case let certificate as SecCertificate",
        ]
        #expect(spellings.isSuperset(of: expected), "\(expected.subtracting(spellings))")
    }

    @Test(
        "A restricted API is used only in the files that Documentation/RestrictedAPIs.md lists",
        arguments: try restrictedAPIs())
    func isRestricted(_ restricted: RestrictedAPI) throws {
        #expect(!restricted.spellings.isEmpty)
        let found = try Sources.all().filter { file in
            let code = file.withoutComments
            return restricted.spellings.contains { code.contains($0) }
        }
        #expect(Set(found.map(\.name)) == restricted.files)
    }
}
