// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting

@testable import TransportPolicy

/// The chain of a server `api.example.com`, made by openssl and evaluated, and the certificate and the verdict for
/// comparison.
struct ServerChain: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    let root: Certificate
    /// A certificate of another CA.
    let stranger: Certificate
    let verdict: TrustVerdict
    let untrusted: TrustVerdict

    private static let made = Result { try ServerChain() }

    /// The chain, made once for all tests.
    static func shared() throws -> ServerChain { try made.get() }

    /// The certificates that the server sends.
    var served: [Certificate] { [leaf, intermediate] }

    func validated() throws -> ValidatedChain {
        guard let chain = ValidatedChain(verdict) else { throw SetupError() }
        return chain
    }

    struct SetupError: Error {}

    private init() throws {
        let authority = try OpenSSLAuthority()
        func certificate(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> Certificate {
            try Certificate(der: Array(issued.der))
        }
        (root, intermediate) = (try certificate(authority.root), try certificate(authority.intermediate))
        leaf = try certificate(authority.server("api.example.com"))
        stranger = try certificate(
            authority.issue(
                "/CN=Another CA", "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n", by: nil))
        verdict = try Self.verdict([leaf, intermediate], root)
        untrusted = try Self.verdict([leaf, intermediate], stranger)
    }

    private static func verdict(_ served: [Certificate], _ anchor: Certificate) throws -> TrustVerdict {
        let server = try ServerName("api.example.com")
        var evaluation = TrustEvaluation(served, policies: [.server(server)], at: Date().timeIntervalSince1970)
        evaluation.anchors = [anchor]
        evaluation.isAnchorsOnly = true
        return evaluation.verdict()
    }
}

extension Pin {
    /// A pin of no key in the tests.
    static func other(_ number: UInt8) -> Pin {
        guard let pin = try? Pin(Data(repeating: number, count: 32).base64EncodedString()) else {
            preconditionFailure("32 bytes are a pin")
        }
        return pin
    }
}

/// 2026-11-23.
let validTime = 1_795_392_000.0
