// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore
internal import KeyServices
internal import LinuxSystem
public import SecretMemory

/// The keys of a keychain. They are used where they are stored.
public struct KeychainKeys: Sendable {
    let keychain: OpenKeychain
    let constraints: ConstrainedCalls
    let newItems: NewItems
    let cache: KeyCache
    let enclaves: Enclaves

    public func generate(_ generation: KeyGeneration, from identity: CallerIdentity) throws(KeychainError)
        -> GeneratedKey
    {
        let caller = try Authorizer.authorize(identity)
        // Check the access groups first: generating a large key takes long.
        _ = try caller.groupForAddition(named: generation.privateHalf.accessGroup)
        if let half = generation.publicHalf { _ = try caller.groupForAddition(named: half.accessGroup) }
        let context = try constraints.provenContext(generation.privateHalf.authentication, of: identity)
        let binding = try constraints.binding(for: generation.privateHalf.accessControlFlags, context)
        let new = try newKey(generation)
        var half = generation.privateHalf
        half.attributes.merge(new.attributes) { $1 }
        var halves = [try KeyRules.completed(half, new.publicKey, .privateKey, data: new.data)]
        if let half = generation.publicHalf {
            halves.append(
                try KeyRules.completed(
                    half, new.publicKey, .publicKey, data: SharedSecret(copying: new.publicKey.external)))
        }
        var records: [ItemRecord] = []
        for half in halves {
            let isInEnclave = records.isEmpty && new.isInEnclave
            records.append(
                try newItems.record(of: half, for: caller, enclaveKey: isInEnclave ? new.publicKey.external : nil))
        }
        let pair = records
        var stored = try constraints.runConstrained(
            .key, context, new: (pair[0].promptLabel, pair[0].accessControlFlags)
        ) {
            () throws(StoreError) in try keychain.store.add(pair, binding: binding)
        }
        for index in stored.indices { stored[index].secrets = nil }
        return GeneratedKey(
            privateHalf: stored[0], publicHalf: stored.count > 1 ? stored[1] : nil, publicKey: new.publicKey.external)
    }

    private struct NewKey {
        let publicKey: PublicKey
        /// The data of the private half's item.
        let data: SharedSecret
        /// Attributes that the kind of key decides.
        var attributes: [ItemAttribute: AttributeValue] = [:]
        var isInEnclave = false
    }

    private func newKey(_ generation: KeyGeneration) throws(KeychainError) -> NewKey {
        guard generation.privateHalf.attributes[.tokenIdentifier] != nil else {
            let key = try SoftwareKey.generate(generation.kind, isCancelled: { Cancellation.isCancelled })
            return NewKey(publicKey: key.publicKey, data: try key.external())
        }
        try KeyRules.checkEnclaveKey(generation)
        let record = try EnclaveKeyRecord.create(in: try enclaves.forNewKeys())
        return NewKey(
            publicKey: try record.publicKey, data: record.encoded,
            attributes: KeyRules.enclaveAttributes(record.kind), isInEnclave: true)
    }

    public func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    {
        let item = try keyItem(reference, nil, caller)
        if let known = try KeyRules.rememberedPublicKey(of: item) { return known }
        return try publicKey(of: try opened(item))
    }

    /// Returns the public key of an item that the caller has just opened with its data.
    func publicKey(of item: ItemRecord) throws(KeychainError) -> PublicKeyInfo {
        if let known = try KeyRules.rememberedPublicKey(of: item) { return known }
        return try KeyRules.withKey(of: item, from: cache) { (key) throws(KeychainError) in
            let publicKey = try key.publicKey
            return switch key {
            case .publicKey: PublicKeyInfo(publicKey.kind, half: .publicKey, publicKey: publicKey.external)
            case .privateKey: PublicKeyInfo(publicKey.kind, half: .privateKey, publicKey: publicKey.external)
            }
        }
    }

    public func use(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, authentication: Authentication,
        from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        let item = try opened(
            try keyItem(reference, try constraints.provenContext(authentication, of: caller), caller))
        try KeyRules.requirePermission(for: use, of: item)
        // A key that the person has released for one use is not kept for the next one.
        let isConstrained = item.accessControlFlags?.hasConstraints == true
        return try KeyRules.withKey(of: item, from: isConstrained ? nil : cache, in: enclaves.enclave) {
            (key) throws(KeychainError) in
            guard case .privateKey(let key) = key else { throw .parameter("the key must be a private key") }
            return KeyOutput(
                try input.withUnsafeBytes { (input) throws(KeychainError) in try key.use(use, on: input) },
                from: item.accessGroup)
        }
    }

    public func export(
        _ reference: PersistentReference, authentication: Authentication, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        let found = try keyItem(reference, try constraints.provenContext(authentication, of: caller), caller)
        guard found.isExtractable else { throw KeyRules.notExtractable }
        let item = try opened(found)
        guard let data = item.secrets?.data else { throw KeychainError(.decode, "the item holds no key") }
        return KeyOutput(data, from: item.accessGroup)
    }

    /// Returns the item if its access control is satisfied.
    ///
    /// - Throws: the need for an authentication.
    private func opened(_ item: ItemRecord) throws(KeychainError) -> ItemRecord {
        guard item.needsAuthentication == nil else {
            throw .authenticationNeeded(for: .item(item.persistentReference))
        }
        return item
    }

    /// Returns the item, with its data if the context satisfies its access control. The data does
    /// not leave the service.
    private func keyItem(
        _ reference: PersistentReference, _ context: ProvenContext?, _ caller: CallerIdentity
    ) throws(KeychainError) -> ItemRecord {
        let caller = try Authorizer.authorize(caller)
        guard reference.itemClass == .key else { throw .parameter("the reference must refer to a key") }
        let search = try caller.search(ItemQuery(nil, synchronizable: .any, persistentReference: reference), for: .read)
        let result = try keychain.run { () throws(StoreError) in
            try keychain.store.search(search, limit: 1, withSecrets: true, constraints: context?.keys)
        }
        constraints.discard(result.lost, of: .key)
        context?.passwordWas(right: result.wrongPasswords.isEmpty)
        guard let item = result.records.first else { throw .itemNotFound }
        return item
    }
}
