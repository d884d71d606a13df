// SPDX-License-Identifier: Apache-2.0

/// What came of the search for a chain.
public struct ChainVerdict: Sendable {
    /// The chain that keeps every rule; nil where there is none.
    public let chain: Chain?
    /// What was tried before, in its order; not empty where there is no chain.
    public let attempts: [ChainAttempt]

    /// Why there is no chain: what is wrong with the attempt that came furthest.
    public var failure: TrustFailure? { chain == nil ? best?.failure : nil }

    /// The attempt that came furthest: to an anchor with the fewest failures, or else to somebody who may not be an issuer, or else the
    /// longest.
    public var best: ChainAttempt? { bestIndex.map { attempts[$0] } }

    private var bestIndex: Int? {
        attempts.enumerated().min { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }?.offset
    }

    /// The same with another account of that attempt.
    func replacingBest(_ attempt: ChainAttempt) -> ChainVerdict {
        var changed = attempts
        if let bestIndex { changed[bestIndex] = attempt }
        return ChainVerdict(chain: chain, attempts: changed)
    }
}

extension ChainAttempt {
    fileprivate var rank: Int {
        if reachesAnchor { return failures.count }
        return switch failure.rule {
        case .untrusted, .signature, .keyIdentifier: 3_000 - certificates.count
        case .budget: 2_000
        default: 1_000
        }
    }
}
