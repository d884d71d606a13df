// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Synchronization
import Testing

@testable import CertificateTrust

/// A refusal costs no more than an acceptance, counted in verified signatures: they are most of the
/// work of an evaluation.
@Suite("Cost of refusals")
struct RefusalCostTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("server")
    private static let validationTime = 1_780_000_000.0

    /// Counts calls.
    private final class Counter: Sendable {
        private let counted = Atomic(0)
        var count: Int { counted.load(ordering: .relaxed) }
        func add() { counted.wrappingAdd(1, ordering: .relaxed) }
    }

    /// A chain of three that is evaluated.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The rule that is found first; nil for an acceptance.
        let rule: TrustRule?
        /// The verified signatures of a verdict.
        let decided: Int
        /// The same after all failures, explanations and exceptions were read.
        let read: Int
        /// The indexes of the certificates with an invalid signature.
        var forged: [Int] = []
        var isExpired = false
        var host = "example.com"
        /// Whether the anchor is another certificate with the root's name and key identifier.
        var hasOtherAnchor = false
        var hasAnchor = true
    }

    static let rows = [
        Row(testDescription: "an acceptance", rule: nil, decided: 2, read: 2),
        Row(testDescription: "another host", rule: .serverName, decided: 2, read: 2, host: "example.org"),
        Row(testDescription: "expired", rule: .expired, decided: 2, read: 2, isExpired: true),
        Row(testDescription: "invalid signature of the leaf", rule: .signature, decided: 1, read: 2, forged: [0]),
        Row(
            testDescription: "invalid signature of the intermediate", rule: .signature, decided: 2, read: 2, forged: [1]
        ),
        Row(testDescription: "two invalid signatures", rule: .signature, decided: 1, read: 2, forged: [0, 1]),
        Row(testDescription: "an anchor with another key", rule: .signature, decided: 2, read: 2, hasOtherAnchor: true),
        Row(testDescription: "unknown issuer", rule: .untrusted, decided: 0, read: 1, hasAnchor: false),
    ]

    @Test(
        "A refusal verifies no more signatures than an acceptance, also when its failures are read", arguments: rows)
    func signatures(_ row: Row) throws {
        let verified = Counter()
        let evaluation = try evaluation(row, verified)
        let verdict = evaluation.verdict()
        #expect(verdict.failure?.rule == row.rule)
        #expect(verdict.failure.map(verdict.explanation)?.isEmpty != true)
        #expect(verified.count == row.decided && row.decided <= Self.rows[0].decided)
        _ = verdict.failures.map(verdict.explanation)
        _ = (verdict.result, verdict.exceptions, verdict.attempts)
        #expect(verified.count == row.read && row.read <= Self.rows[0].read)
    }

    @Test("A search that continues with certificates of the keychain verifies no signature again", arguments: rows)
    func lookups(_ row: Row) throws {
        let verified = Counter()
        var evaluation = try evaluation(row, verified)
        // A certificate that was found starts the search again.
        let stored = try Self.root.certificate(by: Self.root) { $0.serialNumber = DERWriter.integer(0x4D) }
        evaluation.issuers = { _ in [stored] }
        let verdict = evaluation.verdict()
        #expect(verdict.failure?.rule == row.rule)
        #expect(verified.count == row.decided)
    }

    /// Returns the evaluation of a row's chain. Its keys count the signatures that they verify.
    private func evaluation(_ row: Row, _ verified: Counter) throws -> TrustEvaluation {
        var ders = [
            try Self.server.leafBytes(by: Self.intermediate) {
                $0.extensions? += [
                    CertificateTemplate.extension(
                        "2.5.29.37", DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.3.1")))
                ]
                if row.isExpired { $0.notAfter = CertificateTemplate.time("20260101000000Z") }
            }, try Self.intermediate.bytes(by: Self.root), try Self.root.bytes(by: Self.root),
        ]
        if row.hasOtherAnchor {
            ders[2] = try Issuer("root").bytes(by: Issuer("root")) {
                $0.keyIdentifiers = [Issuer.identifier(Self.root.key)]
            }
        }
        for index in row.forged { ders[index][ders[index].count - 1] ^= 1 }
        let certificates = try ders.map { try Certificate(der: $0) }
        for certificate in certificates { try certificate.countSignatures(verified.add) }
        let policy = TrustPolicy.server(ServerName(requested: row.host))
        var evaluation = TrustEvaluation(
            Array(certificates.dropLast()), policies: [policy], at: Self.validationTime)
        (evaluation.anchors, evaluation.isAnchorsOnly) = (row.hasAnchor ? [certificates[2]] : [], true)
        return evaluation
    }
}

extension Certificate {
    /// Calls `count` for each signature that the certificate's key verifies.
    fileprivate func countSignatures(_ count: @escaping @Sendable () -> Void) throws {
        let key = try verificationKey()
        verification.withLock {
            $0 = .success(
                VerificationKey(key.family) { signature, message, hash in
                    count()
                    return key.check(signature, message, hash)
                })
        }
    }
}
