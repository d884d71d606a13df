// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import OpenSSLCrypto
import Synchronization
import Testing

@testable import CertificateTrust

/// Chains are searched once for a verdict, although revocation evidence is checked several times.
@Suite("Chain search")
struct ChainSearchTests {
    private static let roots = [Issuer("root 0"), Issuer("root 1")]
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("server")
    /// In the middle of 2026.
    private static let validationTime = 1_780_000_000.0

    private let leaf: Certificate
    /// The same intermediate, issued by each root.
    private let intermediates: [Certificate]
    private let anchors: [Certificate]

    init() throws {
        leaf = try Self.server.leaf(by: Self.intermediate)
        intermediates = try Self.roots.map { root in
            try Self.intermediate.certificate(by: root) { $0.serialNumber = DERWriter.integer(0x4D) }
        }
        anchors = try Self.roots.map { try $0.certificate(by: $0) }
    }

    private final class Counter: Sendable {
        private let counted = Atomic(0)
        var count: Int { counted.load(ordering: .relaxed) }
        func add() { counted.wrappingAdd(1, ordering: .relaxed) }
    }

    // MARK: One search

    /// Accepts only chains that end in these anchors.
    private struct AnchorRule: ChainRule {
        let accepted: [Certificate]

        func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
            if let anchor = chain.certificates.last, accepted.contains(anchor) { return }
            throw TrustFailure(.requiredAnchor, at: chain.certificates.count - 1, "another anchor is required")
        }
    }

    @Test("A further rule continues the search at the chain that it rejects, and repeats no work")
    func continued() throws {
        var builder = ChainBuilder(
            for: leaf, intermediates: CertificatePool(intermediates), anchors: CertificatePool(anchors),
            at: Self.validationTime)
        let first = try #require(builder.result().chain?.certificates)
        #expect(first == [leaf, intermediates[0], anchors[0]])
        let one = builder.budget
        #expect(builder.result().chain?.certificates == first)
        #expect(builder.result(also: AnchorRule(accepted: anchors)).chain?.certificates == first)
        #expect(builder.budget == one)
        let second = builder.result(also: AnchorRule(accepted: [anchors[1]]))
        #expect(second.chain?.certificates == [leaf, intermediates[1], anchors[1]])
        #expect(second.attempts.map(\.failure.rule) == [.requiredAnchor])
        let both = builder.budget
        #expect(both != one)
        // Results of the whole search and of its first chain cost nothing more.
        let none = builder.result(also: AnchorRule(accepted: []))
        #expect(none.chain == nil && none.attempts.map(\.certificates.last) == anchors)
        #expect(none.failure?.rule == .requiredAnchor && none.best?.reachesAnchor == true)
        #expect(builder.result().chain?.certificates == first)
        #expect(builder.result().attempts.isEmpty)
        #expect(builder.budget == both)
    }

    @Test("A verdict with revocation reads the anchors and searches once, however often evidence is checked")
    func once() throws {
        let reads = Counter()
        var evaluation = TrustEvaluation(
            [leaf] + intermediates, policies: [.basicX509, .revocation(.ocsp)], at: Self.validationTime)
        evaluation.anchors = anchors
        evaluation.systemAnchors = SystemAnchors {
            reads.add()
            return SystemAnchors.Locations(files: [], directories: [])
        }
        evaluation.fetcher = RevocationFetcher { (_, _, _) throws(OpenSSLError) in
            Issue.record("the certificates name no location")
            return []
        }
        #expect(evaluation.verdict().isTrusted)
        #expect(reads.count == 1)
        evaluation.policies = [.basicX509, .revocation([.ocsp, .requiresPositiveResponse])]
        #expect(evaluation.verdict().failure?.rule == .revocationUnknown)
        #expect(reads.count == 2)
    }

    // MARK: Evidence

    private final class CountedEvidence: RevocationEvidence {
        let verifications = Counter()

        func covers(_ certificate: Certificate, of issuer: Certificate) -> Bool { true }

        func rejectionReason(about certificate: Certificate, of issuer: Certificate, at validationTime: Double)
            -> String?
        { nil }

        func signedStatus(of certificate: Certificate, issuer: Certificate, at validationTime: Double)
            -> RevocationStatus
        {
            verifications.add()
            return .good(until: validationTime + 1)
        }
    }

    @Test("A piece of evidence is verified and charged once for each certificate and issuer")
    func evidence() throws {
        let (verifier, evidence) = (RevocationVerifier(at: Self.validationTime), CountedEvidence())
        var budget = WorkBudget()
        for (certificate, issuer, count) in [
            (leaf, intermediates[0], 1), (leaf, intermediates[0], 1), (leaf, intermediates[1], 2),
            (intermediates[0], anchors[0], 3), (leaf, intermediates[0], 3),
        ] {
            let before = budget
            let verified = evidence.verifications.count
            let status = try verifier.status(of: certificate, issuer: issuer, by: evidence, &budget)
            #expect(status == .good(until: Self.validationTime + 1))
            #expect(evidence.verifications.count == count)
            #expect((budget == before) == (verified == count))
        }
        // Another piece of evidence has a result of its own.
        let other = CountedEvidence()
        _ = try verifier.status(of: leaf, issuer: intermediates[0], by: other, &budget)
        #expect(other.verifications.count == 1)
    }

    /// A CRL of a root that revokes the certificates with this serial number.
    private func list(of root: Issuer, serialNumber: Int) throws -> CertificateRevocationList {
        let time = CertificateTemplate.time("20260101000000Z")
        let number = CertificateTemplate.extension("2.5.29.20", DERWriter.integer(1))
        let body = DERWriter.sequence(
            DERWriter.integer(1), CertificateTemplate.ecdsaWithSHA256, CertificateTemplate.name(root.name), time,
            CertificateTemplate.time("20300101000000Z"),
            DERWriter.sequence(DERWriter.sequence(DERWriter.integer(serialNumber), time)),
            DERWriter.explicit(0, DERWriter.sequence(number)))
        let signature = try root.key.signature(for: Data(body)).derRepresentation
        return try CertificateRevocationList(
            der: DERWriter.sequence(body, CertificateTemplate.ecdsaWithSHA256, DERWriter.bits(Array(signature))))
    }

    @Test(
        "If a chain has a revoked certificate, another chain is used, with or without a revocation policy",
        arguments: [nil, .lists, .ocsp] as [RevocationOptions?])
    func another(_ options: RevocationOptions?) throws {
        var evaluation = TrustEvaluation(
            [leaf] + intermediates, policies: [.basicX509] + (options.map { [.revocation($0)] } ?? []),
            at: Self.validationTime)
        (evaluation.anchors, evaluation.isAnchorsOnly) = (anchors, true)
        evaluation.systemAnchors = SystemAnchors { .init(files: [], directories: []) }
        #expect(evaluation.verdict().chain.last == anchors[0])
        evaluation.revocation.lists = [try list(of: Self.roots[0], serialNumber: 0x4D)]
        let verdict = evaluation.verdict()
        #expect(verdict.isTrusted)
        // A CRL has no effect if the policy uses only OCSP.
        #expect(verdict.chain.last == (options == .ocsp ? anchors[0] : anchors[1]))
        evaluation.revocation.lists.append(try list(of: Self.roots[1], serialNumber: 0x4D))
        let refused = evaluation.verdict()
        #expect(refused.isTrusted == (options == .ocsp))
        if options != .ocsp {
            #expect(refused.failure?.rule == .revoked && refused.failure?.index == 1)
            #expect(refused.attempts.count == 2 && refused.result == .fatalTrustFailure)
        }
    }
}
