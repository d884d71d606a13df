// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Makes the records of additions.
struct NewItems: Sendable {
    let keychain: OpenKeychain
    private var policies: GroupPolicies { GroupPolicies(keychain: keychain) }

    /// Returns the record to store for an addition, after every check.
    ///
    /// - Parameter publicKey: the public half of a key that the service has just created in an
    ///   enclave.
    func record(
        of item: ItemAddition, for caller: AuthorizedCaller, enclaveKey publicKey: [UInt8]? = nil
    ) throws(KeychainError) -> ItemRecord {
        let group = try caller.groupForAddition(named: item.accessGroup)
        guard item.itemClass != .identity else {
            throw .parameter("an identity is added by reference; it has no row of its own")
        }
        let now = keychain.now()
        var record = ItemRecord(
            identifier: .random(), itemClass: item.itemClass,
            protection: item.protection ?? .initial(for: item.itemClass),
            accessGroup: group, isSynchronizable: item.isSynchronizable, created: now, modified: now,
            attributes: item.attributes,
            accessControlFlags: item.accessControlFlags, addedBy: caller.executable, secrets: item.secrets)
        try LookupRules.apply(item, to: &record)
        KeyRules.complete(&record)
        record.completeDefaults()
        try ItemRules.checkClass(of: record, allowsAlwaysOpen: keychain.allowsAlwaysOpen)
        try ItemRules.checkDates(of: record.attributes)
        try ItemRules.checkAccessList(in: record.attributes)
        if let publicKey { record.publicKey = publicKey } else { try KeyRules.refuseToken(record) }
        KeyRules.rememberPublicKey(of: &record)
        GroupPolicies.apply(try policies.guardedGroups(), to: &record)
        try ItemRules.check(record)
        return record
    }
}
