// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyClient
import LatchkeyHTTPClient
import LatchkeyNIOSSL
import LatchkeyURLSession
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS
import Testing
import TransportPolicy

/// Every command and every library that checks servers, on one table of servers: the same result, or a
/// difference that has a reason.
@Suite("One policy for servers")
struct OnePolicyTests {

    @Test(
        "SPIN-8: a server is accepted or refused by all alike, with the stored pins, App Transport Security and the trust settings",
        arguments: CheckedServer.all)
    func row(_ row: CheckedServer) async throws {
        let bench = try await Bench(row)
        for checker in row.checkers {
            let result = try await bench.result(of: checker)
            let expected = row.isAccepted != (row.differences[checker] != nil)
            #expect(result.isAccepted == expected, "\(checker): \(result.text)")
        }
    }

    @Test("SPIN-8: a command checks no server if the stored pins are locked, and says so")
    func locked() async throws {
        let lab = try Lab()
        let (server, root) = (try await lab.server(), lab.authority.root.file)
        let pins = ["pin", "add", "--placement", "any", "--pin", try lab.authority.root.pin(), Lab.host]
        #expect(try await lab.latchkey(pins).status == 0)
        let passcode = "\(lab.home.path)/passcode"
        let isWritten = FileManager.default.createFile(
            atPath: passcode, contents: Data("a passcode of four words\n".utf8), attributes: [.posixPermissions: 0o600])
        #expect(isWritten)
        let set = try await lab.latchkey(["passcode", "set", "--passcode-file", passcode])
        try #require(set.status == 0, "\(set)")
        let address = "\(Lab.host):\(server.port)"
        let check = ["tls", "check"] + lab.options + [address]
        let commands = [
            check, ["pin", "report"] + lab.options + [address],
            ["ats", "diagnostics"] + lab.options + ["https://\(address)"],
            ["verify-cert", "-r", root, "-n", Lab.host, "https://127.0.0.1:\(server.port)"],
            ["trust", "explain", "--anchors", root, "--host", Lab.host, root],
        ]
        for words in commands {
            let outcome = try await lab.latchkey(words)
            #expect(
                outcome.status != 0 && outcome.output.isEmpty && outcome.error.contains("locked"),
                "\(words): \(outcome)")
        }
        try await lab.asProgram {
            let error = #expect(throws: (any Error).self) { try StoredPins().configuration() }
            #expect("\(String(describing: error))".contains("errSecInteractionNotAllowed"))
        }
        let ignoring = try await lab.latchkey(check + ["--ignore-stored-pins"])
        #expect(ignoring.status == 0 && ignoring.output.contains("stored pins are ignored"), "\(ignoring)")
        let unlocked = try await lab.latchkey(check + ["--passcode-file", passcode])
        #expect(unlocked.status == 0 && unlocked.output.contains("the stored pins of \(Lab.host)"), "\(unlocked)")
    }

    @Test("The table has each error of pins, certificates and connections, and names each difference")
    func table() throws {
        let rows = CheckedServer.all
        #expect(rows.count >= 40 && Set(rows.map(\.title)).count == rows.count)
        let used = Set(rows.flatMap(\.differences.values))
        #expect(used == Set(CheckedServer.Difference.allCases))
        // Each checker sees both results.
        for checker in CheckedServer.Checker.allCases {
            let results = Set(
                rows.filter { $0.checkers.contains(checker) }.map { $0.isAccepted != ($0.differences[checker] != nil) })
            #expect(results == [true, false], "\(checker)")
        }
    }
}

/// The server of a row, with the pins and the settings that the user has stored.
private struct Bench {
    struct Result {
        let isAccepted: Bool
        let text: String
    }

    private let row: CheckedServer
    private let lab: Lab
    private let authority: OpenSSLAuthority
    private let identity: Lab.Issued
    /// The certificate that the server sends after its own.
    private let sent: Lab.Issued
    private let server: OpenSSLServer
    /// An `Info.plist`; nil for none.
    private let settings: String?

    init(_ row: CheckedServer) async throws {
        self.row = row
        lab = try Lab()
        authority = if case .stranger = row.certificate { try lab.other } else { lab.authority }
        (identity, sent) = try Self.certificates(row, authority)
        let chain = sent.file == authority.intermediate.file ? [] : ["-cert_chain", sent.file]
        server = try await OpenSSLServer(identity, of: authority, row.options + chain)
        let (authority, identity, other) = (authority, identity, try lab.other)
        func pin(_ pinned: CheckedServer.Pinned) throws -> String {
            switch pinned {
            case .leaf: try identity.pin()
            case .intermediate: try authority.intermediate.pin()
            case .root: try authority.root.pin()
            case .other: try other.server("other").pin()
            }
        }
        let (leaf, wrong) = (try pin(.leaf), try pin(.intermediate))
        settings = try row.settings.map { text in
            let named = text.replacingOccurrences(of: "LEAF", with: String(leaf.dropFirst("sha256/".count)))
                .replacingOccurrences(of: "OTHER", with: String(wrong.dropFirst("sha256/".count)))
            let list = """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict>
                \(named)</dict></dict></plist>
                """
            return try authority.openssl.file(Array(list.utf8))
        }
        stored = try row.stored.map { entry in
            (entry, try entry.pins.map { try pin($0) })
        }
        program = try row.pins.map { try pin($0) }
        try await store()
    }

    private let stored: [(entry: CheckedServer.Stored, pins: [String])]
    private let program: [String]

    private static func certificates(
        _ row: CheckedServer, _ authority: OpenSSLAuthority
    ) throws -> (leaf: Lab.Issued, sent: Lab.Issued) {
        let usual = OpenSSLAuthority.server(row.host.first?.isNumber == true ? "IP:\(row.host)" : "DNS:\(row.host)")
        func leaf(
            _ extensions: String, days: Int = 90, key: [String] = OpenSSLAuthority.p256, digest: String = "-sha256",
            by issuer: Lab.Issued? = authority.intermediate
        ) throws -> Lab.Issued {
            try authority.issue("/CN=\(row.host)", extensions, days: days, key: key, digest: digest, by: issuer)
        }
        let signing =
            "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        switch row.certificate {
        case .usual, .stranger: return (try leaf(usual), authority.intermediate)
        case .names(let names): return (try leaf(OpenSSLAuthority.server(names)), authority.intermediate)
        case .days(let days): return (try leaf(usual, days: days), authority.intermediate)
        case .key(let key): return (try leaf(usual, key: key), authority.intermediate)
        case .encipherment:
            let usage = usual.replacingOccurrences(of: "digitalSignature", with: "digitalSignature,keyEncipherment")
            return (try leaf(usage, key: CheckedServer.rsa2048), authority.intermediate)
        case .digest(let digest): return (try leaf(usual, digest: digest), authority.intermediate)
        case .extensions(let old, let new):
            #expect(usual.contains(old))
            return (try leaf(usual.replacingOccurrences(of: old, with: new)), authority.intermediate)
        case .selfSigned: return (try leaf(usual, by: nil), authority.intermediate)
        case .missingIssuer:
            return (
                try leaf(usual, by: try authority.issue("/CN=Missing", signing, by: authority.root)),
                authority.intermediate
            )
        case .constrained(let names):
            let issuer = try authority.issue(
                "/CN=Constrained", "\(signing)nameConstraints=critical,\(names)\n", by: authority.root)
            return (try leaf(usual, by: issuer), issuer)
        }
    }

    // MARK: Stored pins and settings of the user

    private func store() async throws {
        for (entry, pins) in stored {
            let placement =
                switch entry.placement {
                case .leaf: "leaf"
                case .certificateAuthority: "ca"
                case .anywhere: "any"
                }
            try await succeed(
                ["pin", "add", "--placement", placement] + pins.flatMap { ["--pin", $0] }
                    + (entry.subdomains ? ["--include-subdomains"] : []) + [entry.domain])
        }
        switch row.setting {
        case .denyRoot: try await succeed(["add-trusted-cert", "-r", "deny", authority.root.file])
        case .denyLeaf: try await succeed(["add-trusted-cert", "-r", "deny", identity.file])
        case .trustStranger: try await succeed(["add-trusted-cert", authority.root.file])
        case nil: break
        }
    }

    private func succeed(_ words: [String]) async throws {
        let outcome = try await run("latchkey", words)
        #expect(outcome.status == 0, "\(words): \(outcome)")
    }

    /// The system's anchors are the CA of the lab.
    private func run(_ program: String, _ words: [String]) async throws -> Executable.Outcome {
        let (home, anchors) = (lab.home.path, lab.authority.root.file)
        return try await onThread {
            try Executable.run(program, words, home: home, environment: ["SSL_CERT_FILE": anchors])
        }
    }

    // MARK: Checkers

    func result(of checker: CheckedServer.Checker) async throws -> Result {
        switch checker {
        case .tlsCheck:
            let words = (settings.map { ["--ats", $0] } ?? []) + program.flatMap { ["--pin", $0] }
            return try await command(
                "latchkey",
                ["tls", "check", "--json", "--connect-to", "127.0.0.1"] + words + ["\(row.host):\(server.port)"],
                saying: "\"the stored pins of ")
        case .verifyCert:
            return try await command(
                "latchkey", ["verify-cert", "-n", row.host, "https://127.0.0.1:\(server.port)"],
                saying: "applied: App Transport Security without exceptions; the stored pins of ")
        case .pinReport:
            return try await command(
                "latchkey", ["pin", "report", "--json", "--connect-to", "127.0.0.1", "\(row.host):\(server.port)"],
                saying: "\"the stored pins of ")
        case .trustExplain:
            let result = try await command(
                "latchkey", ["trust", "explain", "--json", "--host", row.host, identity.file, sent.file],
                saying: "\"the stored pins of ")
            #expect(result.text.contains("\"isTrusted\" : \(result.isAccepted)"), "\(result.text)")
            return result
        case .connection: return try await lab.asProgram { try await connection() }
        case .urlSession: return try await lab.asProgram { try await urlSession() }
        case .httpClient: return try await lab.asProgram { try await httpClient() }
        }
    }

    /// Runs a command. It says that it applies the stored pins if the host has some.
    private func command(_ name: String, _ words: [String], saying text: String) async throws -> Result {
        let outcome = try await run(name, words)
        let applies = row.checkers.contains(.pinReport)
        #expect((outcome.output + outcome.error).contains(text) == applies, "\(outcome)")
        // A command that could not check the server is a failure of the test.
        let isOther = outcome.status > 128 && name == "latchkey" && !words.contains("explain")
        #expect(!isOther && !outcome.error.contains("usage:"), "\(outcome)")
        return Result(isAccepted: outcome.status == 0, text: outcome.output + outcome.error)
    }

    /// The policy of a program that uses the stored pins, and joins its own to them.
    private func policy() throws -> ConnectionPolicy {
        let list = try settings.map { try AppTransportSecurity.reading(file: $0).settings } ?? .strict
        let stored = try StoredPins().configuration()
        #expect(stored.sets.count == row.stored.count, "the keychain of the test is not read")
        guard !program.isEmpty else { return ConnectionPolicy(list, pins: stored) }
        let domain = try DomainName(row.host)
        let known = stored.sets.first { $0.rule.domain == domain }
        let own = try PinSet(
            known?.rule ?? DomainRule(domain),
            (known?.requirements ?? []) + [PinRequirement(.anywhere, program.map { try Pin($0) })],
            requiresBackup: false)
        return ConnectionPolicy(
            list, pins: try PinConfiguration(stored.sets.filter { $0.rule.domain != domain } + [own]))
    }

    private func trust() -> PeerTrust {
        let (anchors, home) = (lab.authority.root.file, lab.home.path)
        var trust = PeerTrust(systemAnchors: SystemAnchors { .init(files: [anchors], directories: []) })
        trust.settings = TrustSettingsDomains(user: "\(home)/data")
        return trust
    }

    private func connection() async throws -> Result {
        let client = TLSClient(try policy(), trust: trust())
        let promise = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: String?.self)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).channelInitializer {
            [host = row.host] channel in
            channel.eventLoop.makeCompletedFuture {
                let (handler, handshake) = try client.handler(for: host)
                try channel.pipeline.syncOperations.addHandlers(handler, Outcome(handshake, promise))
            }
        }
        do {
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: server.port).get()
            // A server that does not answer must not stop the tests.
            let timeout = channel.eventLoop.scheduleTask(in: .minutes(2)) { channel.close(promise: nil) }
            let refusal = try await promise.futureResult.get()
            timeout.cancel()
            channel.close(promise: nil)
            return Result(isAccepted: refusal == nil, text: refusal ?? "")
        } catch {
            promise.succeed(nil)
            return Result(isAccepted: false, text: "\(error)")
        }
    }

    private func urlSession() async throws -> Result {
        var transport = LatchkeyTransport(policy: try policy(), trust: trust())
        transport.usesProxyEnvironment = false
        let session = LatchkeySession(transport, configuration: .ephemeral)
        do {
            let url = try #require(URL(string: "https://\(row.host):\(server.port)/"))
            let (_, response) = try await session.data(from: url)
            return Result(isAccepted: response.statusCode == 200, text: "\(response.statusCode)")
        } catch {
            #expect((error as? URLError).map { -1206 ... -1200 ~= $0.errorCode } == true, "\(error)")
            return Result(isAccepted: false, text: "\(error)")
        }
    }

    private func httpClient() async throws -> Result {
        var configuration: HTTPClient.Configuration
        let policy = try policy()
        do { configuration = try .latchkey(policy, trust: trust()) } catch {
            return Result(isAccepted: false, text: "\(error)")
        }
        configuration.dnsOverride = [row.host: "127.0.0.1"]
        let client = HTTPClient(configuration: configuration)
        let result: Result
        do {
            let request = HTTPClientRequest(url: "https://\(row.host):\(server.port)/")
            let response = try await client.execute(request, timeout: .seconds(60))
            result = Result(isAccepted: response.status.code == 200, text: "\(response.status)")
        } catch { result = Result(isAccepted: false, text: "\(error)") }
        try await client.shutdown()
        return result
    }
}

/// Waits for the end of a handshake: nil if it was accepted, else why it was refused.
private final class Outcome: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let handshake: TLSHandshake
    private let promise: EventLoopPromise<String?>

    init(_ handshake: TLSHandshake, _ promise: EventLoopPromise<String?>) {
        (self.handshake, self.promise) = (handshake, promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { promise.succeed(nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.succeed(handshake.refusal(for: error).explanation)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.succeed("the connection ended during the handshake")
    }
}
