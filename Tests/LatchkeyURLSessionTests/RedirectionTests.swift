// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// Programs with Foundation's sessions alone, without and with the redirections.
@Suite("Redirections of Foundation's sessions")
struct RedirectionTests {
    private let lab: Lab
    private let directory: TemporaryDirectory

    init() throws {
        lab = try Lab.shared()
        directory = try TemporaryDirectory()
    }

    /// Runs a program as an app with an `Info.plist`, and returns the lines that it prints.
    private func run(_ program: String, _ words: [String], allowsLocal: Bool = false) async throws -> [String] {
        let place = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: Executable.path(program), toPath: "\(place.path)/program")
        if allowsLocal {
            let list = """
                <plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict>
                <key>NSAllowsLocalNetworking</key><true/></dict></dict></plist>
                """
            try Data(list.utf8).write(to: URL(filePath: "\(place.path)/Info.plist"))
        }
        let environment = [
            "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no", "LATCHKEY_HOME": "\(place.path)/home",
            "LATCHKEY_NO_DAEMON": "1", "HOME": place.path, "TMPDIR": directory.path,
            "SSL_CERT_FILE": lab.authority.root.file,
        ]
        let process = try SpawnedProcess(
            ["\(place.path)/program"] + words, environment: environment, output: "\(place.path)/output")
        _ = await eventuallyInTask { !process.isRunning }
        #expect(process.awaitExit() == 0)
        return try String(contentsOfFile: "\(place.path)/output", encoding: .utf8).split(separator: "\n").map(
            String.init)
    }

    private static let ways = ["shared", "default", "ephemeral", "classes", "contents", "string"]

    @Test("Plain http is refused, unless Info.plist allows it, in every way to load a URL", arguments: Self.ways)
    func plainHTTP(_ way: String) async throws {
        let server = try await WebServer(nil) { _ in .text("plain") }
        let words = ["load", way, server.url().absoluteString]
        let loaded = [["contents", "string"].contains(way) ? "loaded plain" : "200 plain"]
        #expect(try await run("RedirectedPromises", words) == ["error NSURLErrorDomain -1022"])
        #expect(server.requests.isEmpty)
        #expect(try await run("RedirectedPromises", words, allowsLocal: true) == loaded)
        #expect(try await run("PlainPromises", words) == loaded)
        #expect(server.requests.count == 2)
    }

    @Test("A class of the program in protocolClasses still answers for its host")
    func ownClass() async throws {
        let words = ["load", "classes", "http://mock.example/"]
        for program in ["PlainPromises", "RedirectedPromises"] {
            #expect(try await run(program, words) == ["299 mocked"], "\(program)")
        }
    }

    @Test("The delegate is asked about the server, and its refusal is -999 without a request")
    func delegate() async throws {
        let server = try await WebServer(lab) { _ in .text("secure") }
        let words = ["load", "delegate", server.url().absoluteString]
        let lines = try await run("RedirectedPromises", words)
        #expect(lines == ["challenge NSURLAuthenticationMethodServerTrust", "error NSURLErrorDomain -999"])
        #expect(server.requests.isEmpty)
        // Foundation's own connections never ask.
        #expect(try await !run("PlainPromises", words).contains { $0.hasPrefix("challenge") })
    }

    @Test("A download task returns a file, and a failed one leaves none")
    func download() async throws {
        let server = try await WebServer(nil) { request in
            request.target == "/cut" ? WebServer.Reply(body: Array("all of it".utf8), cut: 3) : .text("plain")
        }
        for program in ["PlainPromises", "RedirectedPromises"] {
            let words = ["load", "download", server.url().absoluteString]
            #expect(try await run(program, words, allowsLocal: true) == ["loaded plain"], "\(program)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let words = ["load", "download", server.url("/cut").absoluteString]
        let lines = try await run("RedirectedPromises", words, allowsLocal: true)
        #expect(lines.count == 1 && lines[0].hasPrefix("error NSURLErrorDomain"), "\(lines)")
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) == Set(files))
    }

    @Test("The default credential of the shared storage answers a Basic challenge")
    func credential() async throws {
        let expected = "Basic \(Data("me:a password".utf8).base64EncodedString())"
        let server = try await WebServer(lab) { request in
            guard request.fields["authorization"] == expected else {
                return WebServer.Reply(status: 401, fields: [("WWW-Authenticate", "Basic realm=\"the realm\"")])
            }
            return .text("welcome")
        }
        let words = ["credential", "me", "a password", server.url().absoluteString]
        #expect(try await run("RedirectedPromises", words) == ["me", "200 welcome"])
    }
}
