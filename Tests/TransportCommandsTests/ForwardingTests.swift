// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The commands `latchkey` and `security`; they run `latchkey-tls`.
@Suite("Commands of latchkey-tls")
struct ForwardingTests {
    private let lab: Lab

    init() throws { lab = try Lab() }

    struct Diagnostics: Decodable {
        var applied: [String]
        var cases: [Case]
        struct Case: Decodable {
            var title: String
            var dictionary: String
            var passed: Bool
            var reason: String?
        }
    }

    @Test("Without latchkey-tls beside latchkey, the commands name it, with any PATH")
    func missing() async throws {
        let directory = try TemporaryDirectory()
        let program = "\(directory.path)/latchkey"
        try FileManager.default.copyItem(
            atPath: try FileManager.default.destination(of: Executable.path("latchkey")), toPath: program)
        for words in [["tls", "check", "x"], ["pin", "list"], ["ats", "diagnostics", "x"], ["verify-cert", "x"]] {
            let home = lab.home.path
            let environment = ["PATH": "\(Executable.path("latchkey-tls").dropLast("/latchkey-tls".count))"]
            let outcome = try await onThread {
                try Executable.run(program, words, home: home, environment: environment)
            }
            #expect(outcome.status != 0 && outcome.output.isEmpty, "\(outcome)")
            #expect(outcome.error.contains("latchkey-tls; it is not installed in "), "\(outcome)")
            #expect(outcome.error.contains("\nhint: make install, or install the package latchkey-tls\n"))
        }
    }

    @Test("latchkey links neither SwiftNIO nor BoringSSL")
    func links() throws {
        let image = try Data(contentsOf: URL(filePath: Executable.path("latchkey")), options: .alwaysMapped)
        #expect(image.range(of: Data("CNIOBoringSSL_SSL_new".utf8)) == nil)
        let tls = try Data(contentsOf: URL(filePath: Executable.path("latchkey-tls")), options: .alwaysMapped)
        #expect(tls.range(of: Data("CNIOBoringSSL_SSL_new".utf8)) != nil)
    }

    @Test("ats diagnostics tries each combination, and passes those that the server satisfies")
    func diagnostics() async throws {
        let server = try await lab.server(["-tls1_2"])
        let words = ["ats", "diagnostics", "--json"] + lab.options
        let (status, report) = try await lab.json(Diagnostics.self, words + ["https://\(Lab.host):\(server.port)/x"])
        #expect(status == 0 && report.cases.count == 18)
        let trust = "trust in the anchors of \(lab.authority.root.file) alone, without trust settings"
        #expect(report.applied == ["no pins are stored for \(Lab.host)", trust])
        #expect(report.cases.filter { !$0.passed }.map { $0.title.prefix(7) } == Array(repeating: "TLSv1.3", count: 4))
        let plain = try await lab.json(Diagnostics.self, words + ["http://\(Lab.host):\(server.port)/"])
        #expect(plain.0 == 1)
        #expect(
            plain.1.cases.filter(\.passed).allSatisfy {
                $0.dictionary.contains("Insecure") || $0.title == "Arbitrary loads"
            })
        #expect(plain.1.cases.filter(\.passed).count == 9)
        let text = try await lab.latchkey(
            ["ats", "diagnostics", "--verbose"] + lab.options + ["https://\(Lab.host):\(server.port)"])
        #expect(text.output.hasPrefix("---\nDefault\nATS Dictionary: {}\nResult : PASS\n"))
        #expect(text.output.contains("Result : FAIL\nReason : "))
        #expect(text.error.contains("applied: \(report.applied.joined(separator: "; "))"), "\(text)")
    }

    @Test("ats diagnostics applies the stored pins in each combination, also to http")
    func diagnosticsOfPins() async throws {
        let wrong = try lab.other.root.pin()
        #expect(try await lab.latchkey(["pin", "add", "--pin", wrong, Lab.host]).status == 0)
        let server = try await lab.server()
        for scheme in ["https", "http"] {
            let words = ["ats", "diagnostics", "--json"] + lab.options + ["\(scheme)://\(Lab.host):\(server.port)/"]
            let (status, report) = try await lab.json(Diagnostics.self, words)
            #expect(status == 1 && report.cases.count == 18 && !report.cases.contains(where: \.passed), "\(scheme)")
            #expect(report.applied.first == "the stored pins of \(Lab.host)")
        }
    }

    @Test("verify-cert -v does not call a server trusted that violates the stored pins, and names the applied policy")
    func verifyCertOfPins() async throws {
        let (authority, leaf) = (lab.authority, try lab.authority.server(Lab.host))
        let words = [
            "verify-cert", "-v", "-c", leaf.file, "-c", authority.intermediate.file, "-r", authority.root.file, "-p",
            "ssl", "-n", Lab.host,
        ]
        let free = try await lab.latchkey(words)
        #expect(free.status == 0 && free.output.contains("\nTrusted:\n"), "\(free)")
        #expect(free.error.contains("applied: App Transport Security without exceptions; no pins are stored for"))
        let wrong = try lab.other.root.pin()
        #expect(try await lab.latchkey(["pin", "add", "--pin", wrong, Lab.host]).status == 0)
        let violated = try await lab.latchkey(words)
        #expect(violated.status == 1 && violated.output.contains("\nNot trusted: "), "\(violated)")
        #expect(!violated.output.contains("Trusted:") && violated.output.contains("\nViolated: "))
        #expect(violated.output.contains("Applied: the stored pins of \(Lab.host)\n"))
    }

    @Test("verify-cert evaluates the certificates that the server of a URL sends")
    func verifyCert() async throws {
        let server = try await lab.server()
        let url = "https://127.0.0.1:\(server.port)"
        let words = ["verify-cert", "-r", lab.authority.root.file, "-n", Lab.host]
        let trusted = try await lab.latchkey(words + [url])
        #expect(trusted.status == 0 && trusted.output == "...certificate verification successful.\n", "\(trusted)")
        // Without -n, the host of the URL is the required name.
        let name = try await lab.latchkey(["verify-cert", "-r", lab.authority.root.file, url])
        #expect(name.status == 1 && name.error.hasPrefix("Cert Verify Result: "), "\(name)")
        let untrusted = try await lab.latchkey(["verify-cert", "-n", Lab.host, url])
        #expect(untrusted.status == 1)
        let both = try await lab.latchkey(["verify-cert", "-c", lab.authority.root.file, url])
        #expect(both.status == 2 && both.error.contains("exclude each other"))
        let plain = try await lab.latchkey(["verify-cert", "http://127.0.0.1:\(server.port)"])
        #expect(plain.error.contains("expected a URL with https"))
    }
}

extension FileManager {
    /// The file behind symbolic links.
    fileprivate func destination(of path: String) throws -> String {
        guard let real = realpath(path, nil) else { throw POSIXError(.ENOENT) }
        defer { free(real) }
        return String(cString: real)
    }
}
