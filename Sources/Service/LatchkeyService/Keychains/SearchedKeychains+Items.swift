// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

extension SearchedKeychains: HostedKeychain {
    public func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        try primary.add(item, from: caller)
    }

    public func addIdentities(
        _ identities: [IdentityAddition], from caller: CallerIdentity
    ) throws(KeychainError) -> Int {
        try primary.addIdentities(identities, from: caller)
    }

    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        var damaged = 0
        var locked: [LockedItem] = []
        let records = try collect(query) { (keychain, query) throws(KeychainError) in
            let matches = try keychain.copyMatching(query, returning: returning, from: caller)
            damaged += matches.damaged
            locked += matches.locked
            return matches.records
        }
        return ItemMatches(records: records, damaged: damaged, locked: locked)
    }

    /// Passes the parts of one keychain after the other. A keychain with an item that is locked is passed
    /// over as a whole: one that may have such items is searched twice, because parts that were passed on
    /// cannot be taken back.
    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity,
        begin: () throws(KeychainError) -> Void, inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        guard query.limit == .all else {
            let found = try copyMatching(query, returning: returning, from: caller)
            try begin()
            return try take(found)
        }
        // Parts that were passed on cannot be taken back for a keychain that is not the first.
        var (isFirst, hasPassed, failure) = (true, false, KeychainError?.none)
        try search { (keychain) throws(KeychainError) in
            hasPassed = false
            if try keychain.lockStatus().state != .unlocked {
                try keychain.copyMatching(query, returning: returning, from: caller, begin: {}, inParts: { _ in })
            }
            do throws(KeychainError) {
                try keychain.copyMatching(query, returning: returning, from: caller) { () throws(KeychainError) in
                    guard isFirst || !hasPassed else { throw .changedDuringSearch }
                    if isFirst { try begin() }
                    hasPassed = false
                } inParts: { (part) throws(KeychainError) in
                    hasPassed = true
                    try take(part)
                }
            } catch {
                // Another keychain must not answer instead of one that has answered in part.
                guard hasPassed, error.status != .itemNotFound else { throw error }
                failure = error
                return false
            }
            isFirst = false
            return true
        }
        if let failure { throw failure }
    }

    public func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] {
        try collect(query) { (keychain, query) throws(KeychainError) in
            try keychain.copyIdentities(query, returning: returning, from: caller)
        }
    }

    public func update(
        _ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity
    ) throws(KeychainError) -> Int {
        try sum(query.limit) { (keychain) throws(KeychainError) in
            try keychain.update(query, with: update, from: caller)
        }
    }

    public func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        try sum(query.limit) { (keychain) throws(KeychainError) in try keychain.delete(query, from: caller) }
    }

    public func generateKey(
        _ generation: KeyGeneration, from caller: CallerIdentity
    ) throws(KeychainError) -> GeneratedKey {
        try primary.generateKey(generation, from: caller)
    }

    public func publicKey(
        of reference: PersistentReference, from caller: CallerIdentity
    ) throws(KeychainError) -> PublicKeyInfo {
        try first { (keychain) throws(KeychainError) in try keychain.publicKey(of: reference, from: caller) }
    }

    public func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, authentication: Authentication,
        from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try first { (keychain) throws(KeychainError) in
            try keychain.useKey(reference, use, on: input, authentication: authentication, from: caller)
        }
    }

    public func exportKey(
        _ reference: PersistentReference, authentication: Authentication, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try first { (keychain) throws(KeychainError) in
            try keychain.exportKey(reference, authentication: authentication, from: caller)
        }
    }
}

// MARK: Files

extension SearchedKeychains {
    public func createFileKey(
        _ protection: FileProtectionClass, group: String?, withholdsKey: Bool, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKey {
        try fileKeychain.createFileKey(protection, group: group, withholdsKey: withholdsKey, from: caller)
    }

    public func openFileKey(_ record: FileKeyRecord, from caller: CallerIdentity) throws(KeychainError) -> SharedSecret
    {
        try fileKeychain.openFileKey(record, from: caller)
    }

    public func rewrapFileKey(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKeyRecord {
        try fileKeychain.rewrapFileKey(record, for: protection, group: group, from: caller)
    }

    public func useFileKey(_ request: FilePartRequest, from caller: CallerIdentity) throws(KeychainError) -> FilePart {
        try fileKeychain.useFileKey(request, from: caller)
    }

    public func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError) {
        try primary.storeFile(item, replaces: replaces, from: source, caller: caller)
    }

    public func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> StoredFilePart {
        try first { (keychain) throws(KeychainError) in
            try keychain.readStoredFile(query, at: offset, count: count, version: version, from: caller)
        }
    }
}
