// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Searches for identities, and answers with both halves of each.
package struct CopyIdentities: KeychainOperation {
    package let query: ItemQuery
    package let returning: ReturnTypes

    package init(_ query: ItemQuery, returning: ReturnTypes) {
        self.query = query
        self.returning = returning
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("copy", query, isDeferred: true) }

    package var reach: OperationReach { .searchList }

    package var nothing: FoundIdentities? { FoundIdentities([]) }

    package func rest(after answer: FoundIdentities) -> CopyIdentities? {
        query.limit.rest(after: answer.identities.count).map { limit in
            var query = query
            query.limit = limit
            return CopyIdentities(query, returning: returning)
        }
    }

    package var authentication: Authentication? { query.authentication }

    package func authenticated(by authentication: Authentication) -> CopyIdentities {
        var query = query
        query.authentication = authentication
        return CopyIdentities(query, returning: returning)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> FoundIdentities {
        try context.holdSearchPermit(
            for: query, readsSecrets: !returning.isDisjoint(with: [.data, .reference]))
        let service = try context.service
        let outcome = ResultLimit.$current.withValue(context.maxResultSize) {
            Result { () throws(KeychainError) in
                try service.identities.copy(query, returning: returning, from: context.caller)
            }
        }
        let found = try outcome.get()
        try context.requireAccess(toSecretsIn: groupsOfSecrets(in: found))
        guard found.allSatisfy({ $0.secretLength <= Frame.maxSecretsSize }) else {
            throw KeychainError(
                .allocate, "the certificate and the key of an identity are too large for one response",
                hint: "search for the certificate and for the key")
        }
        return FoundIdentities(found)
    }

    /// Returns the groups of the secrets in the answer, as two searches for the halves would have them: those of the
    /// certificates with data, and those of the keys if data was requested.
    private func groupsOfSecrets(in identities: [IdentityRecord]) -> [AccessGroup] {
        let certificates = identities.map(\.certificate).filter { $0.secrets != nil }
        let keys = returning.contains(.data) ? identities.map(\.key) : []
        return (certificates + keys).map(\.accessGroup)
    }
}

/// The identities that a search found, or a part of them.
package struct FoundIdentities: ResponseContent {
    package var identities: [IdentityRecord]
    package var moreFollows: Bool

    package init(_ identities: [IdentityRecord], moreFollows: Bool = false) {
        self.identities = identities
        self.moreFollows = moreFollows
    }

    package mutating func append(_ part: FoundIdentities) {
        identities += part.identities
        moreFollows = part.moreFollows
    }

    package var weight: Int { identities.reduce(0) { $0 + $1.weightInMemory } }

    package func forEachPart(_ send: (any ResponseContent) throws(WireError) -> Void) throws(WireError) {
        var part = FoundIdentities([], moreFollows: true)
        var (weight, secrets) = (0, 0)
        for identity in identities {
            let (own, ownSecrets) = (identity.weightInMemory, identity.secretCount)
            if !part.identities.isEmpty,
                weight + own > ResponsePart.maxLength || secrets + ownSecrets > ResponsePart.maxSecrets
            {
                try send(part)
                part.identities = []
                (weight, secrets) = (0, 0)
            }
            part.identities.append(identity)
            (weight, secrets) = (weight + own, secrets + ownSecrets)
        }
        part.moreFollows = false
        try send(part)
    }

    package var isEmpty: Bool { identities.isEmpty }

    package var auditedCount: Int { identities.count }

    /// The group of all halves.
    package var auditedGroup: AccessGroup? {
        let groups = Set(identities.flatMap { [$0.certificate.accessGroup, $0.key.accessGroup] })
        return groups.count == 1 ? groups.first : nil
    }
}

extension IdentityRecord {
    fileprivate var weightInMemory: Int {
        certificate.weightInMemory + key.weightInMemory + (publicKey?.publicKey.count ?? 0)
    }

    fileprivate var secretCount: Int { certificate.secretCount + key.secretCount }

    /// The size of all secrets, in bytes.
    fileprivate var secretLength: Int {
        [certificate, key].reduce(0) { length, item in
            length + (item.secrets?.data?.count ?? 0)
                + (item.secrets?.attributes.values.reduce(0) { $0 + $1.count } ?? 0)
        }
    }
}

extension OperationPerformer {
    /// Returns the matching identities, each as the pair that was joined, in the order of addition of the certificates.
    ///
    /// - Parameter returning: the requested values. A reference needs the data of the certificate
    ///   and the public key; data is that of the key, and, together with other values, also that of
    ///   the certificate.
    /// - Throws: errSecParam if the query is for another class;
    ///   errSecUnimplemented if only data was requested, and no key is extractable.
    package func copyIdentities(_ query: ItemQuery, returning: ReturnTypes) throws(KeychainError) -> [IdentityRecord] {
        try perform(CopyIdentities(query, returning: returning)).identities
    }
}

// MARK: Coding

extension CopyIdentities {
    init(_ wire: WireCopyMatching) throws(WireError) { (query, returning) = try wire.decode() }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .copyIdentities(WireCopyMatching(query, returning))
    }
}

extension FoundIdentities {
    init(_ wire: WireIdentities, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        var identities: [IdentityRecord] = []
        identities.reserveCapacity(wire.identities.count)
        for identity in wire.identities { identities.append(try identity.decode(&secrets)) }
        self.init(identities, moreFollows: wire.moreFollows)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireIdentities()
        for identity in identities { wire.identities.append(WireIdentity(identity, &secrets)) }
        wire.moreFollows = moreFollows
        return .identities(wire)
    }
}

extension WireIdentity {
    fileprivate init(_ identity: IdentityRecord, _ secrets: inout SecretCollector) {
        self.init()
        certificate = WireRecord(identity.certificate, &secrets)
        key = WireRecord(identity.key, &secrets)
        if let info = identity.publicKey { publicKey = WirePublicKeyInfo(info) }
    }

    fileprivate func decode(_ secrets: inout SecretTable) throws(WireError) -> IdentityRecord {
        try requireKnown(self)
        let (certificate, key) = (try certificate.decode(&secrets), try key.decode(&secrets))
        guard certificate.itemClass == .certificate, key.itemClass == .key else {
            throw .malformed("an identity must consist of a certificate and a key")
        }
        return IdentityRecord(
            certificate: certificate, key: key, publicKey: hasPublicKey ? try PublicKeyInfo(publicKey) : nil)
    }
}
