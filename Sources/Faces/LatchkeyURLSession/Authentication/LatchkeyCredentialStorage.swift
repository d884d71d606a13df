// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LinuxSystem

/// See `URLCredentialStorage.latchkey`.
///
/// Its Sendable is unchecked because Foundation's class is so: this class adds one value that a
/// mutex protects.
final class LatchkeyCredentialStorage: URLCredentialStorage, @unchecked Sendable {
    static let instance = LatchkeyCredentialStorage()

    private struct Memory {
        var credentials: [SpaceKey: [String: URLCredential]] = [:]
        /// The users of the default credentials.
        var defaults: [SpaceKey: String] = [:]
    }

    private let memory = SystemMutex(Memory())

    /// The credentials in memory, and those in the keychain if they can be read.
    override func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        let key = SpaceKey(space)
        let found = StoredCredentials.find(key).merging(memory.withLock { $0.credentials[key] ?? [:] }) { $1 }
        return found.isEmpty ? nil : found
    }

    override var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        var all = memory.withLock { $0.credentials }
        for (key, stored) in StoredCredentials.all() { all[key, default: [:]].merge(stored) { first, _ in first } }
        return Dictionary(all.map { ($0.key.space, $0.value) }) { first, _ in first }
    }

    override func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        guard let user = credential.user, credential.persistence != .none else { return }
        let key = SpaceKey(space)
        switch credential.persistence {
        // A credential that the keychain does not take is kept for the session.
        case .permanent, .synchronizable: if StoredCredentials.store(credential, key) { return }
        default: break
        }
        memory.withLock { $0.credentials[key, default: [:]][user] = credential }
    }

    override func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    override func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]
    ) {
        guard let user = credential.user else { return }
        let key = SpaceKey(space)
        memory.withLock { memory in
            memory.credentials[key]?[user] = nil
            if memory.defaults[key] == user { memory.defaults[key] = nil }
        }
        StoredCredentials.remove(user, key)
    }

    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        guard let user = memory.withLock({ $0.defaults[SpaceKey(space)] }) else { return nil }
        return credentials(for: space)?[user]
    }

    override func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        guard let user = credential.user else { return }
        set(credential, for: space)
        memory.withLock { $0.defaults[SpaceKey(space)] = user }
    }
}
