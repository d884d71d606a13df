// SPDX-License-Identifier: Apache-2.0

@testable import CertificateTrust
import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LinuxSystem
import Testing

/// `latchkey trust apple-roots`, with the certificates of a CA of the test: Apple's are not part of the
/// sources.
@Suite("Apple's roots")
struct AppleRootsTests {
    private let keychain: TestKeychain
    private let authority: OpenSSLAuthority

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        authority = try OpenSSLAuthority()
    }

    private func roots(_ files: [FilePath], known: Set<[UInt8]>) throws(CommandFailure) -> [Certificate] {
        try TrustAppleRoots.roots(
            in: files, known: known, in: CommandSession(io: TestIO(), program: .latchkey))
    }

    private func root() throws -> Certificate { try Certificate(der: Array(authority.root.der)) }

    @Test("The roots are those of Apple's page, by their SHA-256")
    func fingerprints() {
        let hashes = AppleProfile.roots.map { Hexadecimal.text($0, isUppercase: true) }
        #expect(
            Set(hashes) == [
                "B0B1730ECBC7FF4505142C49F1295E6EDA6BCAED7E2C68C5BE91B5A11001F024",
                "C2B9B042DD57830E7D117DAC55AC8AE19407D38E41D88F3215BC3A890444A050",
                "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179",
            ])
    }

    @Test("Another certificate is refused by name with every option", arguments: ["", "--dry-run ", "--json "])
    func refused(_ option: String) throws {
        let outcome = keychain.latchkey("trust apple-roots \(option)\(authority.root.file)")
        #expect(outcome.exit == 206 && outcome.output.isEmpty)
        let expected = "\(authority.root.file): CN=Test root is not one of Apple's roots: its SHA-256 is "
        #expect(outcome.error.contains(expected + Hexadecimal.text(try root().sha256)), "\(outcome)")
        #expect(outcome.error.contains("\nhint: "))
    }

    @Test("A missing file, or one without a certificate, is refused")
    func noCertificate() throws {
        #expect(keychain.latchkey("trust apple-roots \(authority.root.keyFile)").exit != 0)
        #expect(keychain.latchkey("trust apple-roots \(authority.root.file).missing").exit != 0)
        #expect(keychain.latchkey("trust apple-roots").exit == 2)
    }

    @Test("PEM and DER are read, a root counts once, and one other certificate refuses all of them")
    func files() throws {
        let (openssl, root) = (authority.openssl, try root())
        let der = try openssl.file(authority.root.der)
        let pem = authority.root.file
        let known: Set = [root.sha256]
        #expect(try roots([FilePath(pem), FilePath(der)], known: known) == [root])
        let chain = try openssl.file(
            Data(contentsOf: URL(filePath: pem)) + Data(contentsOf: URL(filePath: authority.intermediate.file)))
        for files in [[pem, authority.intermediate.file], [chain]] {
            let error = #expect(throws: CommandFailure.self) { try roots(files.map { FilePath($0) }, known: known) }
            guard case .status(let refusal, _)? = error else { return #expect(Bool(false), "\(files)") }
            #expect(refusal.problem.contains("CN=Test intermediate is not one of Apple's roots"), "\(refusal)")
        }
        #expect(throws: CommandFailure.self) { try roots([FilePath(pem)], known: [authority.root.der.map { $0 }]) }
    }

    @Test("A root is trusted for code signing and nothing else")
    func codeSigningAlone() throws {
        let leaf = try authority.issue(
            "/CN=Developer",
            """
            basicConstraints=CA:FALSE
            keyUsage=critical,digitalSignature
            extendedKeyUsage=codeSigning,serverAuth
            subjectAltName=DNS:example.com

            """, by: authority.root)
        let (root, developer) = (try root(), try Certificate(der: Array(leaf.der)))
        var settings = TrustSettings()
        try TrustAppleRoots.trust(root, in: &settings, at: 0)
        try TrustAppleRoots.trust(root, in: &settings, at: 0)
        #expect(settings.entries.map(\.settings) == [[TrustSetting(.trustRoot, policy: .codeSigning)]])
        let now = Date().timeIntervalSince1970
        func isTrusted(_ policy: TrustPolicy) -> Bool {
            var evaluation = TrustEvaluation([developer], policies: [policy], at: now)
            evaluation.settings = [settings]
            return evaluation.verdict().failure == nil
        }
        #expect(isTrusted(.codeSigning))
        for policy in [.basicX509, .server(ServerName(requested: "example.com")), .timeStamping] as [TrustPolicy] {
            #expect(!isTrusted(policy), "\(policy)")
        }
    }

    @Test(
        "Other trust settings of a root are not replaced",
        arguments: [[], [TrustSetting(.deny)], [TrustSetting(.trustRoot)]])
    func otherSettings(_ existing: [TrustSetting]) throws {
        let root = try root()
        var settings = TrustSettings()
        settings.set(existing, of: root, at: 0)
        let error = #expect(throws: CommandFailure.self) { try TrustAppleRoots.trust(root, in: &settings, at: 1) }
        guard case .status(let refusal, _)? = error else { return #expect(Bool(false), "\(existing)") }
        #expect(refusal.problem.contains("CN=Test root has other trust settings"), "\(refusal)")
        #expect(settings.entries.map(\.settings) == [existing])
    }
}
