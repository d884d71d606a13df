// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

extension KeychainStore {
    /// Returns the pairs that match the search, at most `limit`, from one state of the database: in
    /// the order in which the certificates were added, and for each in that of its keys.
    ///
    /// The keys of a certificate are found by the index of the application label, so that other
    /// keys are neither read nor opened. Damaged rows are skipped.
    ///
    /// - Parameter constraints: satisfies the constraints of keys and certificates. Without it, one
    ///   with constraints has no data, and says what is needed.
    public func pairs(_ search: PairSearch, limit: Int?, constraints: ConstraintKeys? = nil) throws(StoreError)
        -> [ItemPair]
    {
        guard limit != 0 else { return [] }
        keybag.recordUse()
        return try read(ConstraintUse(constraints)) { (database, seal) throws(StoreError) in
            try pairs(search, limit: limit, in: database, seal)
        }
    }

    func pairs(
        _ search: PairSearch, limit: Int?, in database: Database, _ seal: RowSeal
    ) throws(StoreError) -> [ItemPair] {
        var (pairs, size): ([ItemPair], Int) = ([], 0)
        try forEachCertificate(of: search, in: database, seal) { (certificate, keys) throws(StoreError) in
            size += certificate.secrets?.data?.count ?? 0
            for key in keys {
                // Many certificates with the same key have the product of both as pairs.
                size += ItemPair.size + (key.secrets?.data?.count ?? 0)
                pairs.append(ItemPair(certificate: certificate, key: key))
                if let max = ResultLimit.current, size > max, pairs.count > 1 { throw .resultTooLarge(max: max) }
                if pairs.count == limit { return false }
            }
            return true
        }
        return pairs
    }

    /// Returns the certificates and keys of all pairs that match the search, each once. It needs
    /// memory for the items, not for their pairs.
    func pairedItems(_ search: PairSearch, in database: Database, _ seal: RowSeal) throws(StoreError) -> PairedItems {
        var items = PairedItems()
        var labels: Set<[UInt8]> = []
        try forEachCertificate(of: search, in: database, seal) { (certificate, keys) in
            items.certificates.append(certificate)
            items.pairCount += keys.count
            if labels.insert(certificate.keyLabel).inserted { items.keys += keys }
            return true
        }
        return items
    }

    /// Calls `body` with every certificate that matches and has matching keys, and with these keys,
    /// until it returns false.
    private func forEachCertificate(
        of search: PairSearch, in database: Database, _ seal: RowSeal,
        _ body: (ItemRecord, [ItemRecord]) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // Several certificates can have the same key.
        var keysByLabel: [[UInt8]: [ItemRecord]] = [:]
        try forEachRow(of: search.certificates, in: database, seal) { (row) throws(StoreError) in
            let found = try opening(row) { () throws(RowSeal.Failure) in
                try Self.matchingRecord(row, by: search.certificates, seal, withSecrets: false)
            }
            guard let found, !found.keyLabel.isEmpty else { return true }
            if keysByLabel[found.keyLabel] == nil {
                keysByLabel[found.keyLabel] = try self.keys(labelled: found.keyLabel, search, in: database, seal)
            }
            guard let keys = keysByLabel[found.keyLabel], !keys.isEmpty,
                let certificate = try completed(found, of: row, search, seal)
            else { return true }
            return try body(certificate, keys)
        }
    }

    /// The certificate with its data, if the search needs it; nil if the data is damaged.
    private func completed(_ certificate: ItemRecord, of row: ItemRow, _ search: PairSearch, _ seal: RowSeal)
        throws(StoreError) -> ItemRecord?
    {
        guard search.needsCertificateData, certificate.needsAuthentication == nil else { return certificate }
        return try opening(row) { () throws(RowSeal.Failure) in
            var certificate = certificate
            certificate.secrets = try seal.openSecrets(of: row)
            return certificate
        }
    }

    private func keys(
        labelled label: [UInt8], _ search: PairSearch, in database: Database, _ seal: RowSeal
    ) throws(StoreError) -> [ItemRecord] {
        let labelled = search.keys(labelled: label)
        var (keys, size): ([ItemRecord], Int) = ([], 0)
        try forEachRow(of: labelled, in: database, seal) { (row) throws(StoreError) in
            let key = try opening(row) { () throws(RowSeal.Failure) -> ItemRecord? in
                let found = try Self.matchingRecord(row, by: labelled, seal, withSecrets: false)
                guard var key = found, search.keys.matches(key) else { return nil }
                guard key.needsAuthentication == nil else { return key }
                switch search.keyData {
                case .none: break
                case .ifReadable: key.secrets = try? seal.openSecrets(of: row)
                case .required: key.secrets = try seal.openSecrets(of: row)
                }
                return key
            }
            guard let key else { return true }
            size += key.secrets?.data?.count ?? 0
            if let max = ResultLimit.current, size > max, !keys.isEmpty { throw .resultTooLarge(max: max) }
            keys.append(key)
            return true
        }
        return keys
    }

    /// Calls `body` with every candidate row of a search within a transaction.
    private func forEachRow(
        of search: ItemSearch, in database: Database, _ seal: RowSeal, _ body: (ItemRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard try forEachCandidate(of: search, in: database, seal, body) else {
            throw .keybag(.damaged("its generation changed within a transaction"))
        }
    }

    /// Opens something of a row; nil if the row is damaged.
    ///
    /// - Throws: the error of a locked class.
    private func opening<Opened>(_ row: ItemRow, _ body: () throws(RowSeal.Failure) -> Opened?) throws(StoreError)
        -> Opened?
    {
        do throws(RowSeal.Failure) {
            return try body()
        } catch {
            if case .derivationPending = error { return nil }
            _ = try error.damage(of: row)
            return nil
        }
    }
}

extension ItemRecord {
    /// The application label of a certificate's keys; empty if it has no public key hash.
    fileprivate var keyLabel: [UInt8] { self[.publicKeyHash]?.canonicalBytes ?? [] }
}
