// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeyServices
internal import LinuxSystem
internal import SecretMemory

/// A cache of parsed private keys that were used recently: parsing a key takes longer than a
/// signature.
///
/// The caller of ``key(of:_:_:)`` must have opened the key's item: it passes the item's data, and
/// gets a key only if that key was made from the same data. The cache is emptied whenever the
/// keychain locks.
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

    private let state = SystemMutex(State())

    /// Returns the key that `data` holds; `make` creates it if it is not cached.
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

    /// Removes every key; libcrypto wipes a key when its last reference ends.
    func removeAll() {
        state.withLock { $0.entries = [:] }
    }

    var count: Int { state.withLock { $0.entries.count } }

    private static let maxCount = 32
}
