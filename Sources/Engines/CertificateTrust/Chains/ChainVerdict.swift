// SPDX-License-Identifier: Apache-2.0

/// What came of the search for a chain.
public struct ChainVerdict: Sendable {
    /// The chain that keeps every rule; nil where there is none.
    public let chain: Chain?
    /// The attempts as the search ended them: of each what ended it.
    let ended: [ChainAttempt]
    /// The index in ``ended`` of the attempt that came furthest; nil where nothing was tried, or there is a chain.
    private let bestIndex: Int?
    private let completedBest: Deferred<ChainAttempt>?

    /// - Parameter complete: finds everything that is wrong with the attempt that came furthest. It checks signatures, and runs when it is asked for.
    init(chain: Chain?, ended: [ChainAttempt], complete: @escaping @Sendable (ChainAttempt) -> ChainAttempt = { $0 }) {
        self.chain = chain
        self.ended = ended
        let index = chain == nil ? ended.enumerated().min { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }?.offset : nil
        bestIndex = index
        completedBest = index.map { index in Deferred { complete(ended[index]) } }
    }

    /// What was tried before, in its order; not empty where there is no chain.
    public var attempts: [ChainAttempt] {
        var attempts = ended
        if let bestIndex, let completedBest { attempts[bestIndex] = completedBest.value }
        return attempts
    }

    /// Why there is no chain: the first that is wrong with the attempt that came furthest.
    public var failure: TrustFailure? { endedBest?.failure }

    /// The attempt that came furthest, with everything that is wrong with it: to an anchor with the fewest failures, or else to an issuer that may
    /// not be one, or else the longest.
    public var best: ChainAttempt? { completedBest?.value }

    /// The same with the failures that ended it: the certificates and the first failure are those of ``best``.
    var endedBest: ChainAttempt? { bestIndex.map { ended[$0] } }
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
