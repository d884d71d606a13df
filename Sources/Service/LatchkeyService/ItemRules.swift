// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// What an item must be like, whoever adds or changes it.
enum ItemRules {
    /// The most that the secret half of an item may hold, in bytes. Larger things belong in a file whose key is in the keychain.
    static let maxSecretSize = 4 << 20
    /// The most that all attributes of an item may hold, in bytes.
    static let maxMetadataSize = 1 << 20

    /// Refuses an item that may not be stored.
    static func check(_ record: ItemRecord) throws(KeychainError) {
        try checkAttributes(of: record)
        let hasConstraints = record.accessControlFlags?.hasConstraints ?? false
        if record.isSynchronizable, hasConstraints {
            throw .parameter("an item with an access control that has constraints cannot be synchronised")
        }
        guard !hasConstraints else { throw .constraintsUnsupported }
        let secret =
            (record.secrets?.data?.count ?? 0) + (record.secrets?.attributes.values.reduce(0) { $0 + $1.count } ?? 0)
        guard secret <= maxSecretSize else {
            throw KeychainError(
                .dataTooLarge, "the data has \(secret) bytes, an item holds at most \(maxSecretSize)",
                hint: "encrypt a file with a key and keep the key in the keychain")
        }
        let metadata = record.attributes.values.reduce(0) { $0 + $1.canonicalBytes.count }
        guard metadata <= maxMetadataSize else {
            throw KeychainError(
                .dataTooLarge, "the attributes have \(metadata) bytes, an item holds at most \(maxMetadataSize)")
        }
    }

    /// Why an item of a backup is not restored; nil for one that a program could have stored.
    static func refusal(ofRestored record: ItemRecord, allowsAttestedGroups: Bool) -> String? {
        let group = record.accessGroup
        if group.name.isEmpty || group.name == "*" || group.name == AccessGroup.token.name {
            return "no program may have the access group '\(group.name)'"
        }
        if group.grade == .attested, !allowsAttestedGroups {
            return "the access group '\(group.name.prefix(100))' is an attested one, and not this caller's to restore"
        }
        do throws(KeychainError) {
            try checkDates(of: record.attributes, record.created, record.modified)
            try check(record)
            return nil
        } catch {
            return error.problem
        }
    }

    /// Refuses dates that no calendar shows.
    static func checkDates(of attributes: [ItemAttribute: AttributeValue], _ more: Double?...) throws(KeychainError) {
        let given = attributes.values.compactMap { value -> Double? in
            if case .date(let date) = value { date } else { nil }
        }
        guard (given + more.compactMap { $0 }).allSatisfy(dates.contains) else {
            throw .parameter("a date is not in the years 1 to 9999")
        }
    }

    /// The years 1 to 9999, in seconds since 2001.
    private static let dates = -63_114_076_800.0...252_423_993_600

    /// Refuses attributes that the class does not keep: their row would not open again.
    private static func checkAttributes(of record: ItemRecord) throws(KeychainError) {
        let schema = ItemSchema.of(record.itemClass)
        let foreign =
            record.attributes.keys.first { schema[$0]?.isStoredWithMetadata != true }
            ?? record.secrets?.attributes.keys.first { schema[$0]?.isSecret != true }
        if let foreign {
            throw KeychainError(
                .noSuchAttribute, "\(record.itemClass.constant) has no attribute '\(foreign.rawValue)' that can be set")
        }
    }

    /// The record after an update (keychain-behaviour §3.4). What the update does not name stays.
    static func applying(_ update: ItemUpdate, to record: ItemRecord, group: AccessGroup?, now: Double)
        throws(KeychainError) -> ItemRecord
    {
        try checkDates(of: update.attributes, update.created)
        var changed = record
        changed.attributes.merge(update.attributes) { _, new in new }
        if let data = update.data { changed.secrets?.data = data }
        changed.secrets?.attributes.merge(update.secretAttributes) { _, new in new }
        if let group { changed.accessGroup = group }
        if let protection = update.protection {
            changed.protection = protection
            // A new class alone drops the access control, which is rebuilt from the class.
            changed.accessControlFlags = update.accessControlFlags
        }
        if let isSynchronizable = update.isSynchronizable { changed.isSynchronizable = isSynchronizable }
        if let created = update.created { changed.created = created }
        changed.modified = ItemRecord.date(now, after: record.modified)
        try check(changed)
        if changed[.tokenIdentifier] != record[.tokenIdentifier] { try KeyRules.refuseToken(changed) }
        try KeyRules.check(changed, was: record)
        return changed
    }
}
