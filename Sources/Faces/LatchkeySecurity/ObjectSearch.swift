// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

/// One call of `SecItemCopyMatching`.
enum ObjectSearch {
    /// Returns the matching items. The conditions that need a parsed certificate are checked here.
    static func items(
        for request: CopyRequest, _ authentication: Authentication
    ) throws(KeychainError) -> [FoundItem] {
        let session = try KeychainClient.session()
        let (returning, filter) = (request.returning, request.filter)
        return try request.lookup.perform(authentication) { (query) throws(KeychainError) in
            guard query.itemClass != .identity else {
                return try identities(query, returning, filter, in: session).map { .identity($0) }
            }
            return try records(of: query, returning, filter, in: session).map { .item($0) }
        }
    }

    private static func records(
        of query: ItemQuery, _ returning: ReturnTypes, _ filter: CertificateFilter?, in session: KeychainSession
    ) throws(KeychainError) -> [ItemRecord] {
        // A certificate's reference is created from its bytes.
        let needsData = query.itemClass == .certificate && (returning.contains(.reference) || filter != nil)
        let values = needsData ? returning.union(.data) : returning
        guard let filter else { return try session.copyMatching(query, returning: values).required().records }
        return query.limited(
            try session.copyMatching(query.unlimited, returning: values).required().records.filter {
                filter.matches($0)
            })
    }

    private static func identities(
        _ query: ItemQuery, _ returning: ReturnTypes, _ filter: CertificateFilter?, in session: KeychainSession
    ) throws(KeychainError) -> [IdentityRecord] {
        guard let filter else { return try session.copyIdentities(query, returning: returning).required() }
        // The certificates determine the matching identities. Only then is the data of their keys read.
        let values = returning.subtracting(.data).union(.reference)
        let matching = query.limited(
            try session.copyIdentities(query.unlimited, returning: values).required().filter {
                filter.matches($0.certificate)
            })
        guard returning.contains(.data), !matching.isEmpty else { return matching }
        var named = query.unlimited
        named.match.items = Set(matching.map(\.persistentReference))
        return query.limited(try session.copyIdentities(named, returning: returning).required())
    }
}

extension CertificateFilter {
    /// Whether the certificate in an item satisfies every condition.
    fileprivate func matches(_ record: ItemRecord) -> Bool {
        KeychainCertificates.certificate(of: record).map(matches) ?? false
    }
}

// In Apple's functions, a search that finds nothing is an error.

extension ItemMatches {
    /// - Throws: errSecItemNotFound if there are none, not even damaged ones.
    func required() throws(KeychainError) -> ItemMatches {
        guard !isEmpty else { throw .itemNotFound }
        return self
    }
}

extension [IdentityRecord] {
    /// - Throws: errSecItemNotFound if there are none.
    func required() throws(KeychainError) -> [IdentityRecord] {
        guard !isEmpty else { throw .itemNotFound }
        return self
    }
}

extension ItemQuery {
    fileprivate var unlimited: ItemQuery {
        var query = self
        query.limit = .all
        return query
    }

    /// The results up to the limit of the query.
    fileprivate func limited<Result>(_ results: [Result]) -> [Result] {
        (limit ?? .one).count.map { Array(results.prefix($0)) } ?? results
    }
}
