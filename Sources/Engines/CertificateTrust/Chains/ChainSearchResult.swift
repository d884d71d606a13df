// SPDX-License-Identifier: Apache-2.0

/// What came of the search for a chain.
public struct ChainSearchResult: Sendable {
    /// The chain that keeps every rule; nil where there is none.
    public let chain: Chain?
    /// The attempts as the search ended them: of each what ended it.
    let failedAttempts: [ChainAttempt]
    /// The index in ``failedAttempts`` of the attempt that came furthest; nil where nothing was tried, or there is a chain.
    private let bestIndex: Int?
    private let completedBestAttempt: Lazy<ChainAttempt>?

    /// - Parameter complete: finds everything that is wrong with the attempt that came furthest. It checks signatures, and runs when it is asked for.
    init(
        chain: Chain?, failedAttempts: [ChainAttempt],
        complete: @escaping @Sendable (ChainAttempt) -> ChainAttempt = { $0 }
    ) {
        self.chain = chain
        self.failedAttempts = failedAttempts
        let index =
            chain == nil
            ? failedAttempts.enumerated().min { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }?.offset
            : nil
        bestIndex = index
        completedBestAttempt = index.map { index in Lazy { complete(failedAttempts[index]) } }
    }

    /// What was tried before, in its order; not empty where there is no chain.
    public var attempts: [ChainAttempt] {
        var attempts = failedAttempts
        if let bestIndex, let completedBestAttempt { attempts[bestIndex] = completedBestAttempt.value }
        return attempts
    }

    /// Why there is no chain: the first that is wrong with the attempt that came furthest.
    public var failure: TrustFailure? { bestFailedAttempt?.failure }

    /// The attempt that came furthest, with everything that is wrong with it: to an anchor with the fewest failures, or else to an issuer that may
    /// not be one, or else the longest.
    public var best: ChainAttempt? { completedBestAttempt?.value }

    /// The same with the failures that ended it: the certificates and the first failure are those of ``best``.
    var bestFailedAttempt: ChainAttempt? { bestIndex.map { failedAttempts[$0] } }
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
