// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey tls check` against servers of openssl, as a process.
@Suite("tls check")
struct TLSCheckTests {
    private let lab: Lab

    init() throws { lab = try Lab() }

    /// The JSON of the command.
    struct Report: Decodable {
        var accepted: Bool
        var reason: String?
        var code: Int?
        var steps: [Step]
        var certificates: [Certificate]

        struct Step: Decodable {
            var name: String
            var state: String
            var reason: String
        }

        struct Certificate: Decodable { var pin: String }

        func state(_ name: String) -> String? { steps.first { $0.name == name }?.state }
        var failed: [String] { steps.filter { $0.state == "failed" }.map(\.name) }
    }

    private func check(
        _ server: OpenSSLServer, _ options: [String] = [], host: String = Lab.host
    ) async throws -> (status: Int32, report: Report) {
        try await lab.json(
            Report.self, ["tls", "check", "--json"] + lab.options + options + ["\(host):\(server.port)"])
    }

    private static let names = [
        "policy", "connect", "protocol", "certificate", "chain", "name", "dates", "revocation", "pins", "strength",
        "suites", "alpn",
    ]

    @Test("A good server passes every step, and its pins are shown")
    func good() async throws {
        let identity = try lab.authority.server(Lab.host)
        let server = try await OpenSSLServer(identity, of: lab.authority, ["-alpn", "http/1.1"])
        let (status, report) = try await check(server, ["--pin", try lab.authority.root.pin()])
        #expect(status == 0 && report.accepted && report.failed.isEmpty)
        #expect(report.steps.map(\.name) == Self.names)
        #expect(report.steps.filter { $0.state != "ok" }.map(\.name) == ["revocation"])
        let chain = [identity, lab.authority.intermediate, lab.authority.root]
        #expect(report.certificates.map(\.pin) == (try chain.map { try $0.pin() }))
        #expect(report.steps.last?.reason == "http/1.1")
        let text = try await lab.latchkey(["tls", "check"] + lab.options + ["\(Lab.host):\(server.port)"])
        #expect(text.status == 0 && text.output.hasSuffix("\naccepted\n"))
        #expect(text.output.contains("pin        \(try identity.pin())\n"))
    }

    @Test("An expired certificate, another host and another CA fail in their step")
    func trust() async throws {
        let expired = try await check(lab.server(days: -1))
        #expect(expired.status == 1 && expired.report.failed == ["dates"] && expired.report.code == -1201)
        let server = try await lab.server()
        let otherHost = try await check(server, host: "www.example.com")
        #expect(otherHost.status == 1 && otherHost.report.failed == ["name"])
        let stranger = try await OpenSSLServer(lab.other.server(Lab.host), of: lab.other)
        let otherCA = try await check(stranger)
        #expect(otherCA.status == 1 && otherCA.report.failed == ["chain"] && !otherCA.report.accepted)
    }

    @Test("A wrong pin fails in its step alone, and the reason has both pins")
    func pins() async throws {
        let wrong = try lab.other.root.pin()
        let (status, report) = try await check(lab.server(), ["--pin", wrong])
        #expect(status == 1 && report.failed == ["pins"] && report.state("chain") == "ok")
        let reason = try #require(report.reason)
        let root = try lab.authority.root.pin()
        #expect(reason.contains(wrong) && reason.contains(root))
    }

    @Test("TLS 1.1 fails in the step of the protocol, and passes with an exception")
    func version() async throws {
        let server = try await lab.server(["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        let (status, report) = try await check(server)
        #expect(status == 1 && report.failed == ["protocol"] && report.state("chain") == "not done")
        let list = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict>
            <key>NSExceptionDomains</key><dict><key>\(Lab.host)</key><dict>
            <key>NSExceptionMinimumTLSVersion</key><string>TLSv1.1</string></dict></dict></dict></dict></plist>
            """
        let file = try lab.authority.openssl.file(Array(list.utf8))
        let allowed = try await check(server, ["--ats", file])
        let step = allowed.report.steps.first { $0.name == "protocol" }
        // openssl signs handshakes of TLS 1.1 with SHA-1, and the exception does not allow SHA-1.
        #expect(step?.reason.contains("no version of TLS") != true, "\(allowed.report)")
    }

    @Test("A server without forward secrecy fails in the step of the suites")
    func suites() async throws {
        let identity = try lab.authority.issue(
            "/CN=rsa", OpenSSLAuthority.server("DNS:\(Lab.host)"),
            key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], by: lab.authority.intermediate)
        let server = try await OpenSSLServer(
            identity, of: lab.authority, ["-tls1_2", "-cipher", "AES256-GCM-SHA384"])
        let (status, report) = try await check(server)
        #expect(status == 1 && report.failed.contains("suites") && report.state("pins") == "not done")
    }

    @Test("A port without TLS is refused, one that refuses connections is not reached")
    func unreachable() async throws {
        let plain = try LoopbackServer { _ in .content([]) }
        let notTLS = try await lab.json(
            Report.self,
            ["tls", "check", "--json", "--timeout", "2", "--connect-to", "127.0.0.1", "\(Lab.host):\(plain.port)"])
        #expect(notTLS.0 == 1 || notTLS.0 == 3)
        #expect(notTLS.1.failed == ["protocol"], "\(notTLS.1)")
        let closed = try SilentPort(listens: false)
        let refused = try await lab.json(
            Report.self, ["tls", "check", "--json", "--connect-to", "127.0.0.1", "\(Lab.host):\(closed.port)"])
        #expect(refused.0 == 3 && refused.1.failed == ["connect"] && refused.1.code == nil)
        #expect(refused.1.reason == "Connection refused")
        withExtendedLifetime((plain, closed)) {}
    }

    @Test("A server that does not answer ends the command after its timeout")
    func slow() async throws {
        let silent = try SilentPort(listens: true)
        let outcome = try await lab.latchkey(
            ["tls", "check", "--connect-to", "127.0.0.1", "--timeout", "1", "\(Lab.host):\(silent.port)"])
        #expect(outcome.status == 3)
        #expect(outcome.output.hasSuffix("no result: the handshake took longer than 1 seconds\n"), "\(outcome)")
        withExtendedLifetime(silent) {}
    }

    @Test(
        "A wrong command line is refused before a connection",
        arguments: [
            (["tls", "check"], 2, "Missing expected argument"),
            (["tls", "check", "https://example.com"], 50, "leave out https://"),
            (["tls", "check", "example.com:0"], 50, "between 1 and 65535"),
            (["tls", "check", "example.com:99999"], 50, "between 1 and 65535"),
            (["tls", "check", "--pin", "md5/abc", "example.com"], 50, "expected a SHA-256 pin"),
            (["tls", "check", "--pin", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "192.0.2.1"], 50, "IP"),
            (["tls", "check", "--ats", "/nonexistent/Info.plist", "example.com"], 50, "does not exist"),
            (["tls", "check", "--timeout", "0", "example.com"], 2, "--timeout"),
            (["tls", "chekc", "example.com"], 2, "hint: latchkey tls --help"),
            (["-v", "tls", "chekc", "example.com"], 2, "latchkey: the command line is not valid [LK1001]\n"),
            (["-v", "pin", "list", "--bad"], 2, "latchkey: the command line is not valid [LK1001]\n"),
        ])
    func commandLine(_ words: [String], status: Int32, text: String) async throws {
        let outcome = try await lab.latchkey(words)
        let expected = status == 50 ? Int32(UInt8(truncatingIfNeeded: Int32(-50))) : status
        #expect(outcome.status == expected, "\(outcome)")
        #expect(outcome.error.contains(text) && outcome.output.isEmpty, "\(outcome)")
    }
}
