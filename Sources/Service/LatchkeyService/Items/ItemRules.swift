// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The rules for every item that is added or changed.
enum ItemRules {
    /// Throws if the administrator does not allow the protection class of an item. Certificates may have every class,
    /// because they are not secret.
    static func checkClass(of record: ItemRecord, allowsAlwaysOpen: Bool) throws(KeychainError) {
        guard !allowsAlwaysOpen, record.protection.isAlwaysOpen, record.itemClass != .certificate else { return }
        throw KeychainError(
            .param,
            "the class \(record.protection.name) (\(record.protection.constant)) opens without the passcode, but "
                + "always-classes in /etc/latchkey/daemon.conf does not allow it",
            hint: "use complete, or first-unlock for programs that run while the keychain is locked")
    }

    /// Throws if the item may not be stored.
    static func check(_ record: ItemRecord) throws(KeychainError) {
        try checkAttributes(of: record)
        try LookupRules.check(record)
        let hasConstraints = record.accessControlFlags?.hasConstraints ?? false
        if record.isSynchronizable, hasConstraints {
            throw .parameter("an item with an access control that has constraints cannot be synchronized")
        }
        try checkConstraints(of: record)
        let secret =
            (record.secrets?.data?.count ?? 0) + (record.secrets?.attributes.values.reduce(0) { $0 + $1.count } ?? 0)
        try ItemLimits.checkSecret(size: secret)
        try ItemLimits.checkMetadata(size: record.attributes.values.reduce(0) { $0 + $1.canonicalBytes.count })
    }

    /// Throws for an access control that cannot be enforced for the item.
    private static func checkConstraints(of record: ItemRecord) throws(KeychainError) {
        guard let flags = record.accessControlFlags else { return }
        _ = try AccessConstraints.parse(flags)
        if flags.contains(.privateKeyUsage), record.itemClass != .key {
            throw .parameter("an access control with privateKeyUsage is for private keys")
        }
    }

    /// Returns why an item of a backup may not be restored; nil if a program could have stored it.
    static func refusal(
        ofRestored record: ItemRecord, allowsAttestedGroups: Bool, allowsAlwaysOpen: Bool = true
    ) -> String? {
        let group = record.accessGroup
        if group.name.isEmpty || group.name == "*" || group.name == AccessGroup.token.name {
            return "no program may have the access group '\(group.name)'"
        }
        if group.grade == .service, group != .files { return "the keychain does not keep items of this group" }
        if group.grade == .attested, !allowsAttestedGroups {
            return "the access group '\(group.name.prefix(100))' is attested, and this caller may not restore it"
        }
        do throws(KeychainError) {
            try checkDates(of: record.attributes, record.created, record.modified)
            try checkAccessList(in: record.attributes)
            try check(record)
            try checkClass(of: record, allowsAlwaysOpen: allowsAlwaysOpen)
            try KeyRules.refuseToken(record)
            return nil
        } catch {
            return error.problem
        }
    }

    /// Throws if a date is outside of the years 1 to 9999.
    static func checkDates(of attributes: [ItemAttribute: AttributeValue], _ more: Double?...) throws(KeychainError) {
        let given = attributes.values.compactMap { value -> Double? in
            if case .date(let date) = value { date } else { nil }
        }
        guard (given + more.compactMap { $0 }).allSatisfy(dates.contains) else {
            throw .parameter("a date must be in the years 1 to 9999")
        }
    }

    /// Throws for an access list that readers of the format would not understand.
    static func checkAccessList(in attributes: [ItemAttribute: AttributeValue]) throws(KeychainError) {
        if let value = attributes[.accessList] { _ = try AccessList(value) }
    }

    /// The years 1 to 9999, in seconds since 2001.
    private static let dates = -63_114_076_800.0...252_423_993_600

    /// Throws for attributes that are not stored for the class: a row that has them could not be
    /// opened again.
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

    /// Returns the record after an update (keychain-behaviour §3.4). Values that the update does
    /// not contain are kept.
    ///
    /// - Parameter allowsAlwaysOpen: whether the update may set the class `dk` or `dku`.
    static func applying(
        _ update: ItemUpdate, to record: ItemRecord, group: AccessGroup?, _ settings: ChangeSettings
    ) throws(KeychainError) -> ItemRecord {
        try checkDates(of: update.attributes, update.created)
        try checkAccessList(in: update.attributes)
        var changed = record
        changed.attributes.merge(update.attributes) { _, new in new }
        try LookupRules.apply(update, to: &changed, was: record)
        if let data = update.data { changed.secrets?.data = data }
        changed.secrets?.attributes.merge(update.secretAttributes) { _, new in new }
        if let group { changed.accessGroup = group }
        if let protection = update.protection {
            changed.protection = protection
            // A new class without an access control removes the old access control. The access control is then rebuilt
            // from the class.
            changed.accessControlFlags = update.accessControlFlags
        }
        if let isSynchronizable = update.isSynchronizable { changed.isSynchronizable = isSynchronizable }
        if let created = update.created { changed.created = created }
        changed.modified = ItemRecord.date(settings.now, after: record.modified)
        GroupPolicies.apply(settings.guardedGroups, to: &changed)
        try check(changed)
        if update.protection != nil { try checkClass(of: changed, allowsAlwaysOpen: settings.allowsAlwaysOpen) }
        try KeyRules.checkTokenKey(changed, was: record, update)
        if changed[.tokenIdentifier] != record[.tokenIdentifier] { try KeyRules.refuseToken(changed) }
        try KeyRules.check(changed, was: record)
        KeyRules.rememberPublicKey(of: &changed)
        return changed
    }
}
