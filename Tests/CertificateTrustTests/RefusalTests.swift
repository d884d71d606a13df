// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import CertificateTrust

/// A refusal is found as fast as an acceptance, and still has all details for callers that need
/// them.
@Suite("Refusals")
struct RefusalTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("example.com")
    private static let validationTime = 1_780_000_000.0

    /// Counts calls.
    private final class Counter: Sendable {
        private let counted = Atomic(0)
        var count: Int { counted.load(ordering: .relaxed) }
        func add() { counted.wrappingAdd(1, ordering: .relaxed) }
    }

    @Test("The explanation of a failure is made when it is read, not when the failure is found, copied or moved")
    func sentences() {
        let made = Counter()
        @Sendable func explanation() -> String {
            made.add()
            return "expired"
        }
        let failure = TrustFailure(.expired, at: 0, explanation())
        let moved = failure.moved(to: 2)
        #expect(Set([failure, moved]).count == 2)
        #expect(made.count == 0)
        #expect(moved.index == 2 && moved.rule == .expired)
        #expect(moved.explanation == "expired")
        #expect(made.count == 1)
        #expect(failure == TrustFailure(.expired, at: 0, "expired"))
        #expect(failure != TrustFailure(.expired, at: 0, "another explanation"))
    }

    @Test("All failures of a refused chain are found once, when they are read")
    func completion() throws {
        let leaf = try Self.server.leaf(by: Self.root)
        let completed = Counter()
        let search = ChainSearchResult(
            chain: nil,
            failedAttempts: [ChainAttempt([leaf], stoppedBy: [TrustFailure(.untrusted, at: 0, "untrusted")])]
        ) {
            completed.add()
            return ChainAttempt($0.certificates, stoppedBy: $0.failures + [TrustFailure(.expired, at: 0, "expired")])
        }
        let verdict = TrustVerdict(search, leaf, at: Self.validationTime) { _, _ in false }
        #expect(
            !verdict.isTrusted && verdict.failure?.rule == .untrusted && verdict.chain == [leaf]
                && verdict.ends == [leaf])
        #expect(verdict.hasFailure { $0 == .untrusted })
        #expect(completed.count == 0)
        #expect(verdict.result == .recoverableTrustFailure)
        #expect(verdict.failures.map(\.rule) == [.untrusted, .expired])
        #expect(verdict.attempts.map { $0.failures.count } == [2] && verdict.exceptions != nil)
        #expect(verdict.hasFailure { $0 == .expired })
        #expect(completed.count == 1)
    }

    @Test("A chain with ignored failures is trusted only if all its failures are ignored")
    func ignoredRules() throws {
        let leaf = try Self.server.leaf(by: Self.root)
        func verdict(_ second: TrustRule, ignoring ignoredRules: Set<TrustRule>) -> TrustVerdict {
            let failedAttempts = [ChainAttempt([leaf], stoppedBy: [TrustFailure(.untrusted, at: 0, "untrusted")])]
            let search = ChainSearchResult(chain: nil, failedAttempts: failedAttempts) {
                ChainAttempt($0.certificates, stoppedBy: $0.failures + [TrustFailure(second, at: 0, "another one")])
            }
            return TrustVerdict(search, leaf, at: Self.validationTime) { failure, _ in
                ignoredRules.contains(failure.rule)
            }
        }
        #expect(verdict(.expired, ignoring: [.untrusted]).result == .recoverableTrustFailure)
        #expect(verdict(.expired, ignoring: [.expired]).result == .recoverableTrustFailure)
        #expect(verdict(.expired, ignoring: [.untrusted, .expired]).result == .proceed)
        #expect(verdict(.expired, ignoring: [.untrusted, .expired]).failure == nil)
        // An invalid signature is never ignored.
        #expect(verdict(.signature, ignoring: [.untrusted, .signature]).result == .fatalTrustFailure)
        #expect(verdict(.signature, ignoring: [.untrusted, .signature]).exceptions == nil)
    }

    @Test("A chain to an unknown issuer also reports its invalid signature and its dates")
    func unknownIssuer() throws {
        let intermediate = try Self.intermediate.certificate(by: Self.root)
        var der = try Self.server.leafBytes(by: Self.intermediate) {
            $0.notAfter = CertificateTemplate.time("20260101000000Z")
        }
        der[der.count - 1] ^= 1
        var evaluation = TrustEvaluation(
            [try Certificate(der: der), intermediate], policies: [], at: Self.validationTime)
        evaluation.isAnchorsOnly = true
        let verdict = evaluation.verdict()
        #expect(!verdict.isTrusted && verdict.failure?.rule == .untrusted)
        #expect(verdict.failures.map(\.rule) == [.untrusted, .signature, .expired])
        #expect(verdict.result == .fatalTrustFailure && verdict.exceptions == nil)
        // Without a certificate there is nothing to ignore.
        #expect(TrustEvaluation([], policies: [], at: Self.validationTime).verdict().result == .fatalTrustFailure)
        #expect(TrustEvaluation([], policies: [], at: Self.validationTime).verdict().exceptions == nil)
    }

    // MARK: Options

    private static func names() -> [[UInt8]] {
        [
            CertificateTemplate.extension(
                "2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, Array("example.com".utf8)))),
            CertificateTemplate.extension("2.5.29.37", DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.3.1"))),
        ]
    }

    private static func ends(_ isOver: Bool) -> (inout CertificateTemplate) -> Void {
        { if isOver { $0.notAfter = CertificateTemplate.time("20260101000000Z") } }
    }

    @Test(
        "The options for expired certificates ignore expiry, of a root or of any certificate, and nothing else",
        arguments: [
            ([false, false, true], [], false), ([false, false, true], .allowExpiredRoot, true),
            ([false, false, true], .allowExpired, true),
            ([true, false, false], .allowExpiredRoot, false), ([true, false, false], .allowExpired, true),
            ([false, true, false], .allowExpiredRoot, false), ([true, true, true], .allowExpiredRoot, false),
            ([true, true, true], .allowExpired, true), ([false, false, false], .allowExpired, true),
            ([true, false, false], [.leafIsCA, .fetchIssuerFromNet, .useTrustSettings], false),
        ] as [([Bool], TrustOptions, Bool)])
    func expiredOptions(_ isOver: [Bool], _ options: TrustOptions, _ isTrusted: Bool) throws {
        var evaluation = TrustEvaluation(
            [
                try Self.server.leaf(by: Self.intermediate) {
                    $0.extensions = Self.names()
                    Self.ends(isOver[0])(&$0)
                }, try Self.intermediate.certificate(by: Self.root, Self.ends(isOver[1])),
            ], policies: [.server(ServerName(requested: "example.com"))], at: Self.validationTime)
        (evaluation.anchors, evaluation.isAnchorsOnly) = (
            [try Self.root.certificate(by: Self.root, Self.ends(isOver[2]))], true
        )
        evaluation.options = options
        let verdict = evaluation.verdict()
        #expect(verdict.isTrusted == isTrusted)
        #expect(verdict.failures.map(\.index) == isOver.indices.filter { isOver[$0] })
        #expect(
            isTrusted
                ? verdict.result == (isOver.contains(true) ? .proceed : .unspecified)
                : verdict.failure?.rule == .expired)
        // Another host name is still refused.
        evaluation.policies = [.server(ServerName(requested: "example.org"))]
        #expect(!evaluation.verdict().isTrusted)
        // A certificate that is not yet valid is still refused.
        evaluation.validationTime = 1
        #expect(evaluation.verdict().failures.contains { $0.rule == .notYetValid } && !evaluation.verdict().isTrusted)
    }

    @Test("An exception for an expired leaf does not cover an intermediate that has expired since")
    func exceptionsByCertificate() throws {
        let leaf = try Self.server.leaf(by: Self.intermediate, Self.ends(true))
        func verdict(_ intermediate: Certificate, _ exceptions: TrustExceptions?) throws -> TrustVerdict {
            var evaluation = TrustEvaluation([leaf, intermediate], policies: [], at: Self.validationTime)
            (evaluation.anchors, evaluation.isAnchorsOnly) = ([try Self.root.certificate(by: Self.root)], true)
            evaluation.exceptions = exceptions
            return evaluation.verdict()
        }
        let agreed = try #require(verdict(Self.intermediate.certificate(by: Self.root), nil).exceptions)
        #expect(try verdict(Self.intermediate.certificate(by: Self.root), agreed).result == .proceed)
        #expect(
            try verdict(Self.intermediate.certificate(by: Self.root, Self.ends(true)), agreed).result
                == .recoverableTrustFailure)
    }

    @Test("A server's leaf may be a CA certificate if the option allows it")
    func leafIsCA() throws {
        let leaf = try Self.server.certificate(by: Self.root) {
            $0.notAfter = CertificateTemplate.time("20270301000000Z")
            $0.extensions =
                [
                    Issuer.authority,
                    CertificateTemplate.extension("2.5.29.15", critical: true, DERWriter.bits([0x84], unused: 2)),
                ] + Self.names()
        }
        var evaluation = TrustEvaluation([leaf], policies: [.server(nil)], at: Self.validationTime)
        (evaluation.anchors, evaluation.isAnchorsOnly) = ([try Self.root.certificate(by: Self.root)], true)
        #expect(evaluation.verdict().failure?.rule == .endEntity)
        evaluation.options = .leafIsCA
        #expect(evaluation.verdict().result == .proceed)
    }

    @Test(
        "The implicitAnchors option makes presented self-signed certificates anchors"
    )
    func implicitAnchors() throws {
        let leaf = try Self.server.leaf(by: Self.intermediate)
        let (intermediate, root) = (
            try Self.intermediate.certificate(by: Self.root), try Self.root.certificate(by: Self.root)
        )
        // Self-issued, but signed by another key.
        let forged = try Self.root.certificate(by: Issuer("root"))
        func verdict(_ certificates: [Certificate], _ options: TrustOptions, anchors: [Certificate] = [])
            -> TrustVerdict
        {
            var evaluation = TrustEvaluation(certificates, policies: [], at: Self.validationTime)
            (evaluation.anchors, evaluation.isAnchorsOnly) = (anchors, true)
            evaluation.options = options
            return evaluation.verdict()
        }
        func result(_ certificates: [Certificate], _ options: TrustOptions) -> TrustResult {
            verdict(certificates, options).result
        }
        #expect(result([leaf, intermediate, root], []) == .recoverableTrustFailure)
        #expect(result([leaf, intermediate, root], .implicitAnchors) == .proceed)
        #expect(result([leaf, intermediate], .implicitAnchors) == .recoverableTrustFailure)
        // As an anchor, it would complete the chain; only the check of its signature prevents that.
        #expect(forged.isSelfIssued && verdict([leaf, intermediate], [], anchors: [forged]).isTrusted)
        #expect(!verdict([leaf, intermediate, forged], .implicitAnchors).isTrusted)
        #expect(verdict([leaf, intermediate, forged, root], .implicitAnchors).isTrusted)
        #expect(result([try Self.server.leaf(by: Self.server)], .implicitAnchors) == .proceed)
        let unrelatedIssuers = try (0..<40).map {
            try Issuer("stranger \($0)").certificate(by: Issuer("stranger \($0)"))
        }
        #expect(TimeLimit.within { result([leaf] + unrelatedIssuers, .implicitAnchors) } == .recoverableTrustFailure)
    }

    @Test("The requireRevocationPerCertificate option requires the status of every certificate")
    func revocation() throws {
        let leaf = try Self.server.leaf(by: Self.root)
        var evaluation = TrustEvaluation([leaf], policies: [], at: Self.validationTime)
        (evaluation.anchors, evaluation.isAnchorsOnly) = ([try Self.root.certificate(by: Self.root)], true)
        evaluation.systemAnchors = SystemAnchors { .init(files: [], directories: []) }
        #expect(evaluation.verdict().isTrusted)
        evaluation.options = .requireRevocationPerCertificate
        #expect(evaluation.verdict().failure?.rule == .revocationUnknown)
    }
}
