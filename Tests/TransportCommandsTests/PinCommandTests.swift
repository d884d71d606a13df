// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey pin`, as a process on a keychain of its own.
@Suite("pin")
struct PinCommandTests {
    private let lab: Lab

    init() throws { lab = try Lab() }

    struct Record: Decodable {
        var domain: String
        var pins: [String]
        var placement: String
        var origin: String
        var subdomains: String
        var lastSeen: String?
        var failures: Int
    }

    struct Comparison: Decodable {
        var result: String
        var found: [String]
        var reason: String?
    }

    private func list() async throws -> [Record] { try await lab.json([Record].self, ["pin", "list", "--json"]).1 }

    @Test("Given pins are stored with their backup, listed and removed")
    func given() async throws {
        let (first, backup) = (try lab.authority.root.pin(), try lab.other.root.pin())
        let words = ["pin", "add", "--pin", first, "--backup", backup, "--placement", "ca", "--include-subdomains"]
        let dry = try await lab.latchkey(words + ["--dry-run", "example.com"])
        #expect(dry.status == 0 && dry.output.hasPrefix("would store example.com (ca): "))
        #expect(try await list().isEmpty)
        let added = try await lab.latchkey(words + ["example.com"])
        #expect(added.status == 0 && !added.error.contains("warning"), "\(added)")
        let record = try #require(try await list().first)
        #expect(record.domain == "example.com" && record.pins == [first, backup].sorted() && record.placement == "ca")
        #expect(record.origin == "given" && record.subdomains == "oneLevel" && record.lastSeen == nil)
        let again = try await lab.latchkey(words + ["example.com"])
        #expect(again.status != 0 && again.error.contains("hint: latchkey pin remove example.com"))
        let dryRemoval = try await lab.latchkey(["pin", "remove", "-n", "example.com"])
        #expect(dryRemoval.output.hasPrefix("would delete example.com"))
        #expect(try await list().count == 1)
        #expect(try await lab.latchkey(["pin", "remove", "example.com"]).status == 0)
        #expect(try await list().isEmpty)
        #expect(try await lab.latchkey(["pin", "remove", "example.com"]).status == 44)
    }

    @Test("On first use the present key is stored and named, and a later key is reported")
    func firstUse() async throws {
        let identity = try lab.authority.server(Lab.host)
        let server = try await OpenSSLServer(identity, of: lab.authority)
        let added = try await lab.latchkey(
            ["pin", "add", "--first-use", "--port", "\(server.port)"] + lab.options + [Lab.host])
        #expect(added.status == 0, "\(added)")
        #expect(added.error.contains("on first use, \(Lab.host):\(server.port) has the key of \(Lab.host)"))
        #expect(added.error.contains("warning: \(Lab.host) has only one pin"))
        #expect(try await list().map(\.pins) == [[identity.pin()]])
        #expect(try await list().map(\.origin) == ["firstUse"])
        let words = ["pin", "report", "--json"] + lab.options
        let match = try await lab.json(Comparison.self, words + ["\(Lab.host):\(server.port)"])
        #expect(match.0 == 0 && match.1.result == "matched")
        #expect(try await list().first?.lastSeen != nil)
        let renewed = try await lab.server()
        let mismatch = try await lab.json(Comparison.self, words + ["\(Lab.host):\(renewed.port)"])
        #expect(mismatch.0 == 1 && mismatch.1.result == "mismatched" && mismatch.1.found.count == 3)
        #expect(try await list().first?.failures == 1)
        // A server that is not trusted is not compared, and not counted.
        let stranger = try await OpenSSLServer(lab.other.server(Lab.host), of: lab.other)
        let refused = try await lab.json(Comparison.self, words + ["\(Lab.host):\(stranger.port)"])
        #expect(refused.0 == 1 && refused.1.result == "refused")
        #expect(try await list().first?.failures == 1)
    }

    @Test("On first use, a server that violates the pins of a domain above is refused")
    func firstUseBelowPins() async throws {
        let wrong = try lab.other.root.pin()
        #expect(
            try await lab.latchkey(["pin", "add", "--pin", wrong, "--include-subdomains", "example.com"]).status == 0)
        let server = try await lab.server()
        let words = ["pin", "add", "--first-use", "--port", "\(server.port)"] + lab.options + [Lab.host]
        let refused = try await lab.latchkey(words)
        #expect(
            refused.status == 1 && refused.error.contains("its key is not stored: no pin of example.com"), "\(refused)")
        #expect(try await list().map(\.domain) == ["example.com"])
    }

    @Test("On first use, the issuing CA can be pinned, and an untrusted key is never stored")
    func firstUseOfAuthority() async throws {
        let server = try await lab.server()
        let words = ["pin", "add", "--first-use", "--placement", "ca", "--port", "\(server.port)"]
        let untrusted = try await lab.latchkey(words + ["--connect-to", "127.0.0.1", Lab.host])
        #expect(untrusted.status == 1 && untrusted.error.contains("its key is not stored"), "\(untrusted)")
        #expect(try await list().isEmpty)
        #expect(try await lab.latchkey(words + lab.options + [Lab.host]).status == 0)
        #expect(try await list().map(\.pins) == [[lab.authority.intermediate.pin()]])
    }

    @Test("The pins are given or taken on first use, not both, and not neither")
    func modes() async throws {
        for words in [["pin", "add", Lab.host], ["pin", "add", "--first-use", "--pin", "x", Lab.host]] {
            let outcome = try await lab.latchkey(words)
            #expect(outcome.status == 2 && outcome.error.contains("--first-use"), "\(outcome)")
        }
        let missing = try await lab.latchkey(["pin", "report", Lab.host])
        #expect(missing.status == 44 && missing.error.contains("hint: latchkey pin add \(Lab.host)"))
    }
}
