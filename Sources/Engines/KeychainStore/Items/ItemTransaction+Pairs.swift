// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// Pairs of a certificate and a key.
extension ItemTransaction {
    func pairs(
        _ search: PairSearch, limit: Int?
    ) throws(StoreError) -> PairSearchResult {
        var (result, size): (PairSearchResult, Int) = (PairSearchResult(), 0)
        let failures = try forEachCertificate(of: search) {
            (certificate, keys) throws(StoreError) in
            size += certificate.secrets?.data?.count ?? 0
            for key in keys {
                // Many certificates with the same key have the product of both as pairs.
                size += ItemPair.size + (key.secrets?.data?.count ?? 0)
                result.pairs.append(ItemPair(certificate: certificate, key: key))
                if let max = ResultLimit.current, size > max, result.pairs.count > 1 {
                    throw .resultTooLarge(max: max)
                }
                if result.pairs.count == limit { return false }
            }
            return true
        }
        (result.lost, result.wrongPasswords) = (failures.lost, failures.wrongPasswords)
        return result
    }

    /// Returns the certificates and keys of all pairs that match the search, each once and without its data. It
    /// needs memory for the items, not for their pairs.
    public func pairedItems(_ search: PairSearch) throws(StoreError) -> PairedItems {
        var items = PairedItems()
        var labels: Set<[UInt8]> = []
        try forEachCertificate(of: search) { (certificate, keys) in
            items.certificates.append(certificate)
            items.pairCount += keys.count
            if labels.insert(certificate.keyLabel).inserted { items.keys += keys }
            return true
        }
        return items
    }

    /// Calls `body` with every certificate that matches and has matching keys, and with these keys,
    /// until it returns false.
    ///
    /// - Returns: the halves that did not open although their constraints were satisfied.
    @discardableResult
    private func forEachCertificate(
        of search: PairSearch,
        _ body: (ItemRecord, [ItemRecord]) throws(StoreError) -> Bool
    ) throws(StoreError) -> FailedHalves {
        // Several certificates can have the same key.
        var keysByLabel: [[UInt8]: [ItemRecord]] = [:]
        var failures = FailedHalves()
        try forEachRow(of: search.certificates) { (row) throws(StoreError) in
            let found = try failures.opened(row, seal) { (seal) throws(RowSeal.Failure) in
                try Self.matchingRecord(row, by: search.certificates, seal, withSecrets: false)
            }
            guard let found, !found.keyLabel.isEmpty else { return .next }
            if keysByLabel[found.keyLabel] == nil {
                keysByLabel[found.keyLabel] = try self.keys(
                    labelled: found.keyLabel, search, &failures)
            }
            guard let keys = keysByLabel[found.keyLabel], !keys.isEmpty,
                let certificate = try completed(found, of: row, search, seal, &failures)
            else { return .next }
            return try body(certificate, keys) ? .taken : .stop
        }
        return failures
    }

    /// The certificate with its data, if the search needs it; nil if the data is damaged.
    private func completed(
        _ certificate: ItemRecord, of row: ItemRow, _ search: PairSearch, _ seal: RowSeal,
        _ failures: inout FailedHalves
    ) throws(StoreError) -> ItemRecord? {
        guard search.needsCertificateData, certificate.needsAuthentication == nil else { return certificate }
        return try failures.opened(row, seal) { (seal) throws(RowSeal.Failure) in
            var certificate = certificate
            certificate.secrets = try seal.openSecrets(of: row)
            return certificate
        }
    }

    private func keys(
        labelled label: [UInt8], _ search: PairSearch,
        _ failures: inout FailedHalves
    ) throws(StoreError) -> [ItemRecord] {
        let labelled = search.keys(labelled: label)
        var (keys, size): ([ItemRecord], Int) = ([], 0)
        var found = failures
        try forEachRow(of: labelled) { (row) throws(StoreError) in
            let key = try found.opened(row, seal) { (seal) throws(RowSeal.Failure) -> ItemRecord? in
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
            guard let key else { return .next }
            size += key.secrets?.data?.count ?? 0
            if let max = ResultLimit.current, size > max, !keys.isEmpty { throw .resultTooLarge(max: max) }
            keys.append(key)
            return .taken
        }
        failures = found
        return keys
    }

    /// What a row of a search for pairs was.
    private enum Step {
        /// Not part of a pair.
        case next
        case taken
        /// The last that is needed.
        case stop
    }

    /// Calls `body` with the candidate rows of a search within a transaction, until too many keys of an application
    /// password are missing. If the search means the first group else the others, the others follow only if nothing of
    /// the first is taken.
    private func forEachRow(of search: ItemSearch, _ body: (ItemRow) throws(StoreError) -> Step) throws(StoreError) {
        var last = Step.next
        for part in search.parts {
            let isComplete = try forEachCandidate(of: part) { (row) throws(StoreError) in
                guard !seal.pending.isTooMany else { return false }
                let step = try body(row)
                if step != .next { last = step }
                return step != .stop
            }
            guard isComplete else { throw .keybag(.damaged("its generation changed within a transaction")) }
            if last == .stop || last == .taken && search.groupOrder == .firstGroupElseOthers { return }
        }
    }
}

/// The certificates and keys of a search that constraints kept from opening, although the person
/// was recognized.
private struct FailedHalves {
    var lost: [ItemIdentifier] = []
    var wrongPasswords: [ItemIdentifier] = []

    /// Opens something of a row; nil if the row is damaged or lost. If the application password is
    /// wrong, opens it again without satisfying its constraints.
    ///
    /// - Throws: the error of a locked class.
    mutating func opened<Opened>(
        _ row: ItemRow, _ seal: RowSeal, _ body: (RowSeal) throws(RowSeal.Failure) -> Opened?
    ) throws(StoreError) -> Opened? {
        do throws(RowSeal.Failure) {
            return try body(seal)
        } catch {
            switch error {
            case .derivationPending: return nil
            case .lost:
                if !lost.contains(row.clear.identifier) { lost.append(row.clear.identifier) }
                return nil
            case .wrongApplicationPassword:
                // The password says nothing about the other half of the pair.
                let opened = try? body(seal.with(seal.keyring))
                if opened != nil, !wrongPasswords.contains(row.clear.identifier) {
                    wrongPasswords.append(row.clear.identifier)
                }
                return opened
            default:
                _ = try error.damage(of: row)
                return nil
            }
        }
    }
}

extension ItemRecord {
    /// The application label of a certificate's keys; empty if it has no public key hash.
    fileprivate var keyLabel: [UInt8] { self[.publicKeyHash]?.canonicalBytes ?? [] }
}
