// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService

/// One call of `SecItemCopyMatching`.
enum ObjectSearch {
    /// Returns the matching items. The conditions that need a parsed certificate are checked here.
    static func records(for request: CopyRequest) throws(KeychainError) -> [ItemRecord] {
        try request.lookup.perform { (query) throws(KeychainError) in
            try records(of: query, request.returning, request.filter)
        }
    }

    private static func records(
        of query: ItemQuery, _ returning: ReturnTypes, _ filter: CertificateFilter?
    ) throws(KeychainError) -> [ItemRecord] {
        let session = try KeychainClient.session()
        // A certificate's reference is created from its bytes.
        let needsData = query.itemClass == .certificate && (returning.contains(.reference) || filter != nil)
        var unlimitedQuery = query
        if filter != nil { unlimitedQuery.limit = .all }
        let found = try session.copyMatching(
            unlimitedQuery, returning: needsData ? returning.union(.data) : returning)
        guard let filter else { return found.records }
        var matchingRecords: [ItemRecord] = []
        for record in found.records {
            let certificate =
                query.itemClass == .identity
                ? try KeychainCertificates.ofIdentity(record) : KeychainCertificates.certificate(of: record)
            if let certificate, filter.matches(certificate) { matchingRecords.append(record) }
        }
        return (query.limit ?? .one).count.map { Array(matchingRecords.prefix($0)) } ?? matchingRecords
    }
}
