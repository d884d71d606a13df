// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import SecretScan
import Testing

@Suite("Tokens with a known form")
struct TokenFormTests {
    private func kinds(_ text: String, name: String = "notes.conf") -> [String] {
        SecretScanner().scan(Array(text.utf8), name: name).findings.map(\.kind.id)
    }

    @Test("A published GitHub token has a valid check sum; with one changed character it is no finding")
    func checkSum() {
        let token = "ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"
        #expect(kinds("x: \(token)") == ["github-token"])
        #expect(kinds("x: \(token.replacing("BuTS", with: "BuTT"))").isEmpty)
        #expect(kinds("x: \(token)7").isEmpty)
    }

    @Test("A token is found in every form of every issuer", arguments: TokenShape.all.indices)
    func forms(_ index: Int) {
        var corpus = PlantedCorpus(seed: UInt64(index))
        let shape = TokenShape.all[index]
        for _ in 0..<20 {
            let token = shape.write(&corpus)
            #expect(kinds("before \(token) after").contains(shape.kind), "\(token)")
        }
    }

    @Test("Each form has a kind of its own issuer, and the identifiers are lowercase words", arguments: SecretKind.all)
    func identifiers(_ kind: SecretKind) {
        #expect(kind.id.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil)
        #expect(!kind.title.isEmpty)
        #expect(SecretKind.all.count { $0.id == kind.id } == 1)
    }

    @Test(
        "Examples, longer words and other lengths are no tokens",
        arguments: [
            "AKIAIOSFODNN7EXAMPLE", "AKIAXXXXXXXXXXXXXXXX", "XAKIAQ2W3E4R5T6Y7U2I", "AKIAQ2W3E4R5T6Y7U2I34",
            "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
            "glpat-your_token_goes_here", "AIzaSyA1234567890123456789012345678901", "SG.short.short", "xoxb-1234",
            "npm_configuration",
            "ghp_000000000000000000000000000000000000", "eyJhbGciOiJub25l.eyJ.x",
            "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ",
        ])
    func examples(_ text: String) { #expect(kinds("value \(text) end").isEmpty) }

    @Test(
        "A token behind an escape, a percent escape, a tag or a sign is found",
        arguments: ["\\n", "%3D", ">", "=", "\"", "'", ":", "(", "/"])
    func neighbors(_ text: String) {
        #expect(kinds("a \(text)glpat-A1b2C3d4E5f6G7h8I9j0 b") == ["gitlab-token"])
    }
}
