// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import CertificateTrust

/// A refusal is found as fast as an acceptance, and tells as much as before to a caller that asks.
@Suite("Refusals")
struct RefusalTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("example.com")
    private static let moment = 1_780_000_000.0

    /// How often something was done.
    private final class Counter: Sendable {
        private let counted = Atomic(0)
        var count: Int { counted.load(ordering: .relaxed) }
        func add() { counted.wrappingAdd(1, ordering: .relaxed) }
    }

    @Test("The sentence of a failure is made when it is read, and not when the failure is found, copied or moved")
    func sentences() {
        let made = Counter()
        @Sendable func sentence() -> String {
            made.add()
            return "it is expired"
        }
        let failure = TrustFailure(.expired, at: 0, sentence())
        let moved = failure.moved(to: 2)
        #expect(Set([failure, moved]).count == 2)
        #expect(made.count == 0)
        #expect(moved.index == 2 && moved.rule == .expired)
        #expect(moved.explanation == "it is expired")
        #expect(made.count == 1)
        #expect(failure == TrustFailure(.expired, at: 0, "it is expired"))
        #expect(failure != TrustFailure(.expired, at: 0, "it is another sentence"))
    }

    @Test("Everything that is wrong with a refused chain is looked for when it is asked for, once")
    func completion() throws {
        let leaf = try Self.server.leaf(by: Self.root)
        let completed = Counter()
        let search = ChainVerdict(chain: nil, ended: [ChainAttempt([leaf], stoppedBy: [TrustFailure(.untrusted, at: 0, "untrusted")])]) {
            completed.add()
            return ChainAttempt($0.certificates, stoppedBy: $0.failures + [TrustFailure(.expired, at: 0, "expired")])
        }
        let verdict = TrustVerdict(search, leaf, at: Self.moment) { _, _ in false }
        #expect(!verdict.isTrusted && verdict.failure?.rule == .untrusted && verdict.chain == [leaf] && verdict.ends == [leaf])
        #expect(verdict.hasFailure { $0 == .untrusted })
        #expect(completed.count == 0)
        #expect(verdict.result == .recoverableTrustFailure)
        #expect(verdict.failures.map(\.rule) == [.untrusted, .expired])
        #expect(verdict.attempts.map { $0.failures.count } == [2] && verdict.exceptions != nil)
        #expect(verdict.hasFailure { $0 == .expired })
        #expect(completed.count == 1)
    }

    @Test("What is overlooked is decided by everything that is wrong, and not by the first alone")
    func overlooked() throws {
        let leaf = try Self.server.leaf(by: Self.root)
        func verdict(_ second: TrustRule, overlooking overlooked: Set<TrustRule>) -> TrustVerdict {
            let ended = [ChainAttempt([leaf], stoppedBy: [TrustFailure(.untrusted, at: 0, "untrusted")])]
            let search = ChainVerdict(chain: nil, ended: ended) {
                ChainAttempt($0.certificates, stoppedBy: $0.failures + [TrustFailure(second, at: 0, "another one")])
            }
            return TrustVerdict(search, leaf, at: Self.moment) { failure, _ in overlooked.contains(failure.rule) }
        }
        #expect(verdict(.expired, overlooking: [.untrusted]).result == .recoverableTrustFailure)
        #expect(verdict(.expired, overlooking: [.expired]).result == .recoverableTrustFailure)
        #expect(verdict(.expired, overlooking: [.untrusted, .expired]).result == .proceed)
        #expect(verdict(.expired, overlooking: [.untrusted, .expired]).failure == nil)
        // A signature that does not hold is overlooked by nobody.
        #expect(verdict(.signature, overlooking: [.untrusted, .signature]).result == .fatalTrustFailure)
        #expect(verdict(.signature, overlooking: [.untrusted, .signature]).exceptions == nil)
    }

    @Test("A chain to an unknown issuer tells of its broken signature and its dates as well")
    func unknownIssuer() throws {
        let intermediate = try Self.intermediate.certificate(by: Self.root)
        var der = try Self.server.leafBytes(by: Self.intermediate) { $0.notAfter = CertificateTemplate.time("20260101000000Z") }
        der[der.count - 1] ^= 1
        var evaluation = TrustEvaluation([try Certificate(der: der), intermediate], policies: [], at: Self.moment)
        evaluation.isAnchorsOnly = true
        let verdict = evaluation.verdict()
        #expect(!verdict.isTrusted && verdict.failure?.rule == .untrusted)
        #expect(verdict.failures.map(\.rule) == [.untrusted, .signature, .expired])
        #expect(verdict.result == .fatalTrustFailure && verdict.exceptions == nil)
        // Without a certificate there is nothing to overlook.
        #expect(TrustEvaluation([], policies: [], at: Self.moment).verdict().result == .fatalTrustFailure)
        #expect(TrustEvaluation([], policies: [], at: Self.moment).verdict().exceptions == nil)
    }
}
