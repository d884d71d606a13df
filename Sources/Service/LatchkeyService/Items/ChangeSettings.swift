// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// What the keychain decides about changes of its items. It is read before a transaction.
struct ChangeSettings: Sendable {
    /// Seconds since 2001.
    let now: Double
    let allowsAlwaysOpen: Bool
    /// See ``GroupPolicies``.
    let guardedGroups: Set<String>

    init(_ keychain: OpenKeychain) throws(KeychainError) {
        (now, allowsAlwaysOpen) = (keychain.now(), keychain.allowsAlwaysOpen)
        guardedGroups = try GroupPolicies(keychain: keychain).guardedGroups()
    }
}
