// SPDX-License-Identifier: Apache-2.0

/// The result of a chain search.
public struct ChainSearchResult: Sendable {
    /// The chain that satisfies every rule; nil if there is none.
    public let chain: Chain?
    /// The attempts, each with the failures that ended it.
    let failedAttempts: [ChainAttempt]
    /// The index of the best attempt in ``failedAttempts``; nil if nothing was tried or there is a
    /// chain.
    private let bestIndex: Int?
    private let completedBestAttempt: Lazy<ChainAttempt>?

    /// - Parameters:
    ///   - complete: finds all failures of the best attempt. It verifies signatures, so it runs only
    ///     when they are read.
    ///   - extend: adds the certificates up to an anchor to the best attempt.
    init(
        chain: Chain?, failedAttempts: [ChainAttempt],
        complete: @escaping @Sendable (ChainAttempt) -> ChainAttempt = { $0 },
        extend: (ChainAttempt) -> ChainAttempt = { $0 }
    ) {
        self.chain = chain
        self.failedAttempts = failedAttempts
        let index =
            chain == nil
            ? failedAttempts.enumerated().min { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }?.offset
            : nil
        bestIndex = index
        let best = index.map { extend(failedAttempts[$0]) }
        bestFailedAttempt = best
        completedBestAttempt = best.map { best in Lazy { complete(best) } }
    }

    /// The failed attempts in the order of the search; not empty if there is no chain.
    public var attempts: [ChainAttempt] {
        var attempts = failedAttempts
        if let bestIndex, let completedBestAttempt { attempts[bestIndex] = completedBestAttempt.value }
        return attempts
    }

    /// Why there is no chain: the first failure of the best attempt.
    public var failure: TrustFailure? { bestFailedAttempt?.failure }

    /// The best failed attempt with all its failures: one that reaches an anchor with the fewest
    /// failures; else one that ends at a candidate that cannot be the issuer; else the longest.
    public var best: ChainAttempt? { completedBestAttempt?.value }

    /// The best failed attempt with only the failures that ended it. Its certificates and its first
    /// failure are those of ``best``.
    let bestFailedAttempt: ChainAttempt?
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
