// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeySecurity

/// Latchkey in this process, called as by an application.
struct EmbeddedKeychain: Contender {
    let name = "latchkey"

    /// The keychain in `home`. A process has only one, because the environment names it before the
    /// first call.
    init(home: String) {
        setenv("LATCHKEY_HOME", home, 1)
        unsetenv("LATCHKEY_EPHEMERAL")
    }

    /// The keychain that the environment names, embedded or through a daemon.
    init() {}

    /// The path of the database in a home.
    static func databasePath(home: String) -> String { "\(home)/data/keychain.db" }

    func time(_ call: KeychainCall, on item: Item, size: Int) throws -> UInt64 {
        switch call {
        case .exactLookup, .lookupByAccount: try timeLookup(call, item)
        case .attributes: try timeAttributes(item)
        case .allOfService: try timeService(item, size: size)
        case .add: try timeAdd(item)
        case .update: try timeUpdate(item)
        case .delete: try timeDelete(item)
        }
    }

    // MARK: Searches

    private func timeLookup(_ call: KeychainCall, _ item: Item) throws -> UInt64 {
        var query = key(of: item)
        if call == .lookupByAccount { query[kSecAttrService as String] = nil }
        query[kSecReturnData as String] = true
        let (value, nanoseconds) = try timeCopy(query, call, item)
        guard let data = value as? Data, item.owns(data) else {
            throw failure(call, item, "the data belongs to another item")
        }
        return nanoseconds
    }

    private func timeAttributes(_ item: Item) throws -> UInt64 {
        var query = key(of: item)
        query[kSecReturnAttributes as String] = true
        let (value, nanoseconds) = try timeCopy(query, .attributes, item)
        guard let attributes = value as? [String: Any], attributes[kSecAttrLabel as String] as? String == item.label
        else {
            throw failure(.attributes, item, "the label belongs to another item")
        }
        return nanoseconds
    }

    private func timeService(_ item: Item, size: Int) throws -> UInt64 {
        var query = key(of: item)
        query[kSecAttrAccount as String] = nil
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = true
        query[kSecReturnData as String] = true
        let (value, nanoseconds) = try timeCopy(query, .allOfService, item)
        let count = (value as? [Any])?.count ?? 0
        guard count == item.siblings(in: size) else {
            throw failure(.allOfService, item, "found \(count) items, expected \(item.siblings(in: size))")
        }
        return nanoseconds
    }

    private func timeCopy(_ query: [String: Any], _ call: KeychainCall, _ item: Item) throws -> (CFTypeRef?, UInt64) {
        let query = query as CFDictionary
        var value: CFTypeRef?
        let (status, nanoseconds) = Stopwatch.time { SecItemCopyMatching(query, &value) }
        try require(status, call, item)
        return (value, nanoseconds)
    }

    // MARK: Changes

    private func timeAdd(_ item: Item) throws -> UInt64 {
        var attributes = key(of: item)
        attributes[kSecAttrLabel as String] = item.label
        attributes[kSecValueData as String] = Data(item.secret)
        let addition = attributes as CFDictionary
        let (status, nanoseconds) = Stopwatch.time { SecItemAdd(addition, nil) }
        try require(status, .add, item)
        return nanoseconds
    }

    private func timeUpdate(_ item: Item) throws -> UInt64 {
        let query = key(of: item) as CFDictionary
        let changes: [String: Any] = [kSecValueData as String: Data(item.replacement)]
        let update = changes as CFDictionary
        let (status, nanoseconds) = Stopwatch.time { SecItemUpdate(query, update) }
        try require(status, .update, item)
        return nanoseconds
    }

    private func timeDelete(_ item: Item) throws -> UInt64 {
        let query = key(of: item) as CFDictionary
        let (status, nanoseconds) = Stopwatch.time { SecItemDelete(query) }
        try require(status, .delete, item)
        return nanoseconds
    }

    // MARK: Shared

    private func key(of item: Item) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: item.account,
            kSecAttrService as String: item.service,
        ]
    }

    private func require(_ status: OSStatus, _ call: KeychainCall, _ item: Item) throws {
        guard status != errSecSuccess else { return }
        let message = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "no message"
        throw failure(call, item, "status \(status) (\(message))")
    }
}
