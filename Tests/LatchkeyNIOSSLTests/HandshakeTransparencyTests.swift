// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import KeychainTesting
import LatchkeyNIOSSL
import Testing
import TransportPolicy

@Suite("Certificate Transparency in the handshake")
struct HandshakeTransparencyTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    /// A policy that requires transparency for the host, or for no host.
    private static func policy(isRequired: Bool) throws -> ConnectionPolicy {
        var settings = AppTransportSecurity.strict
        var exception = ExceptionDomain(.domain(try DomainRule(DomainName(Lab.host))))
        exception.requiresCertificateTransparency = isRequired
        settings.exceptions = [exception]
        return ConnectionPolicy(settings)
    }

    @Test(
        "A host that must be publicly logged is accepted with timestamps of known logs, and with nothing else")
    func handshakes() async throws {
        let plain = try lab.server()
        let logs = try LogLab(lab.authority.openssl)
        let logged = try logs.log(plain, by: lab.authority.intermediate)
        let others = try LogLab(lab.authority.openssl).logs
        let (known, unknown) = (
            CertificateTransparencyPolicy(logs: logs.logs, required: false),
            CertificateTransparencyPolicy(logs: others, required: false)
        )
        var strict = known
        strict.required = true
        // Certificate, policy of the logs, whether the settings require transparency, accepted.
        let cases: [(String, CertificateTransparencyPolicy?, Bool, Bool)] = [
            (logged, known, true, true), (plain.file, known, true, false), (logged, unknown, true, false),
            (logged, nil, true, false), (plain.file, known, false, true), (plain.file, strict, false, false),
            (logged, strict, false, true), (logged, strict, true, true),
        ]
        for (index, (certificate, transparency, isRequired, isAccepted)) in cases.enumerated() {
            let server = try await OpenSSLServer(certificate: certificate, key: plain.keyFile, of: lab.authority)
            var trust = try lab.trust()
            trust.transparency = transparency
            let client = TLSClient(try Self.policy(isRequired: isRequired), trust: trust)
            let ending = try await Conversation.request(client, Lab.host, port: server.port)
            #expect(ending.isAnswered == isAccepted, "case \(index)")
            guard !isAccepted else { continue }
            let text = try #require(ending.refusal).explanation
            #expect(text.contains(isRequired ? "certificate transparency" : "expected timestamps of 2 logs"), "\(text)")
        }
    }
}
