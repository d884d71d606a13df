// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore
internal import KeyServices
internal import LinuxSystem
public import SecretMemory

extension EmbeddedService {
    public func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError)
        -> GeneratedKey
    {
        let caller = try Authorizer.authorize(caller)
        // Check the access groups first: generating a large key takes long.
        _ = try caller.groupForAddition(named: generation.privateHalf.accessGroup)
        if let half = generation.publicHalf { _ = try caller.groupForAddition(named: half.accessGroup) }
        let key = try SoftwareKey.generate(generation.kind, isCancelled: { Cancellation.isCancelled })
        var halves = [
            try KeyRules.completed(generation.privateHalf, key.publicKey, .privateKey, data: try key.external())
        ]
        if let half = generation.publicHalf {
            halves.append(
                try KeyRules.completed(
                    half, key.publicKey, .publicKey, data: SharedSecret(copying: key.publicKey.external)))
        }
        var records: [ItemRecord] = []
        for half in halves { records.append(try record(of: half, for: caller)) }
        var stored = try run { () throws(StoreError) in try store.add(records) }
        for index in stored.indices { stored[index].secrets = nil }
        return GeneratedKey(
            privateHalf: stored[0], publicHalf: stored.count > 1 ? stored[1] : nil, publicKey: key.publicKey.external)
    }

    public func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    {
        try publicKey(of: keyItem(reference, caller))
    }

    /// Returns the public key of an item that the caller has just opened with its data.
    func publicKey(of item: ItemRecord) throws(KeychainError) -> PublicKeyInfo {
        try KeyRules.withKey(of: item, from: keys) { (key) throws(KeychainError) in
            switch key {
            case .publicKey(let key): PublicKeyInfo(key.kind, half: .publicKey, publicKey: key.external)
            case .privateKey(let key): PublicKeyInfo(key.kind, half: .privateKey, publicKey: key.publicKey.external)
            }
        }
    }

    public func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        let item = try keyItem(reference, caller)
        try KeyRules.requirePermission(for: use, of: item)
        return try KeyRules.withKey(of: item, from: keys) { (key) throws(KeychainError) in
            guard case .privateKey(let key) = key else { throw .parameter("the key must be a private key") }
            return KeyOutput(
                try input.withUnsafeBytes { (input) throws(KeychainError) in try key.use(use, on: input) },
                from: item.accessGroup)
        }
    }

    public func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> KeyOutput
    {
        let item = try keyItem(reference, caller)
        guard item.isExtractable else { throw KeyRules.notExtractable }
        guard let data = item.secrets?.data else { throw KeychainError(.decode, "the item holds no key") }
        return KeyOutput(data, from: item.accessGroup)
    }

    /// Returns the item with its data, which does not leave the service.
    private func keyItem(_ reference: PersistentReference, _ caller: CallerIdentity) throws(KeychainError) -> ItemRecord
    {
        let caller = try Authorizer.authorize(caller)
        guard reference.itemClass == .key else { throw .parameter("the reference must refer to a key") }
        let search = try caller.search(ItemQuery(nil, synchronizable: .any, persistentReference: reference), for: .read)
        let result = try run { () throws(StoreError) in try store.search(search, limit: 1, withSecrets: true) }
        guard let item = result.records.first else { throw .itemNotFound }
        return item
    }
}
