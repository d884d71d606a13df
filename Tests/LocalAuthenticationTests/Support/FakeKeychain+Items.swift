// SPDX-License-Identifier: Apache-2.0

import KeyServices
import KeychainModel
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization

extension FakeKeychain {
    func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        let record = ItemRecord(
            identifier: .random(), itemClass: item.itemClass, protection: item.protection ?? .whenUnlocked,
            accessGroup: AccessGroup(caller.declaredGroups?.first ?? "latchkey.shared", grade: .claimed), created: 0,
            modified: 0, attributes: item.attributes, accessControlFlags: item.accessControlFlags,
            addedBy: caller.executable, secrets: item.secrets)
        let problem = state.withLock { state -> KeychainError? in
            let service = item.attributes[.service]
            if let label = state.failingLabel, service == .string(label) { return KeychainError(.diskFull) }
            let isDuplicate = state.items.values.contains {
                $0.itemClass == .genericPassword && item.itemClass == .genericPassword
                    && $0.attributes[.service] == service && $0.attributes[.account] == item.attributes[.account]
            }
            if isDuplicate { return .duplicateItem }
            state.items[record.persistentReference] = record
            return nil
        }
        if let problem { throw problem }
        return record
    }

    func copyMatching(_ query: ItemQuery) throws(KeychainError) -> ItemMatches {
        let found = state.withLock { state in
            state.items.values.filter { item in
                if let reference = query.persistentReference { return item.persistentReference == reference }
                return item.itemClass == query.itemClass
                    && query.attributes.allSatisfy { item.attributes[$0.key] == $0.value }
            }
        }
        for item in found { try require(item, query.authentication) }
        return ItemMatches(records: found, damaged: 0)
    }

    func delete(_ query: ItemQuery) throws(KeychainError) -> Int {
        guard let reference = query.persistentReference,
            state.withLock({ $0.items.removeValue(forKey: reference) }) != nil
        else { return 0 }
        state.withLock { $0.keys[reference] = nil }
        return 1
    }

    func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError) -> GeneratedKey {
        let key = try SoftwareKey.generate(generation.kind)
        let item = try add(generation.privateHalf, from: caller)
        state.withLock { $0.keys[item.persistentReference] = StoredKey(key: key) }
        return GeneratedKey(privateHalf: item, publicHalf: nil, publicKey: key.publicKey.external)
    }

    func useKey(_ call: UseKey) throws(KeychainError) -> KeyOutput {
        let (item, stored) = state.withLock { ($0.items[call.reference], $0.keys[call.reference]) }
        guard let item, let stored else { throw .itemNotFound }
        try require(item, call.authentication ?? Authentication())
        let output = try call.input.withUnsafeBytes { (bytes) throws(KeychainError) in
            try stored.key.use(call.use, on: bytes)
        }
        return KeyOutput(output, from: item.accessGroup)
    }

    /// Checks that the context of a call satisfies the access control of an item.
    private func require(_ item: ItemRecord, _ authentication: Authentication) throws(KeychainError) {
        guard item.accessControlFlags?.hasConstraints == true else { return }
        let isProven = state.withLock { state in
            authentication.context.flatMap { state.contexts[$0] }?.isProven == true
        }
        guard isProven else { throw .authenticationNeeded(for: .item(item.persistentReference)) }
    }
}
