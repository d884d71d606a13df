// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeyServices
internal import SecretMemory
internal import Synchronization

/// Private keys that were used lately, ready to be used again: to make one ready takes longer than a signature by it.
///
/// Nobody gets a key from here who has not just opened its item: the cache is asked with the item's data, and gives the key that was made of the
/// same. It is emptied whenever the keychain locks.
final class KeyCache: Sendable {
    private struct Entry {
        var digest: [UInt8]
        var key: SoftwareKey
        var lastUse: UInt64
    }

    private struct State {
        var entries: [ItemIdentifier: Entry] = [:]
        var uses: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The key that this item's data is, made by `make` where it is not at hand.
    func key(
        of item: ItemIdentifier, _ data: SharedSecret, _ make: () throws(KeychainError) -> SoftwareKey
    ) throws(KeychainError) -> SoftwareKey {
        let digest = try KeyDigest.of(data)
        let known = state.withLock { state -> SoftwareKey? in
            guard let entry = state.entries[item], entry.digest == digest else { return nil }
            state.uses += 1
            state.entries[item]?.lastUse = state.uses
            return entry.key
        }
        if let known { return known }
        let fresh = try make()
        state.withLock { state in
            if state.entries.count >= Self.maxCount,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
            }
            state.uses += 1
            state.entries[item] = Entry(digest: digest, key: fresh, lastUse: state.uses)
        }
        return fresh
    }

    /// Lets go of every key; libcrypto wipes each with its last user.
    func removeAll() {
        state.withLock { $0.entries = [:] }
    }

    var count: Int { state.withLock { $0.entries.count } }

    private static let maxCount = 32
}
