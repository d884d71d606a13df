// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The items that a `Keychain` finds, and the attributes that it stores.
struct Options {
    var service: String
    var accessGroup: String?
    var accessibility = Accessibility.afterFirstUnlock
    var isSynchronizable = false
    var label: String?
    var comment: String?

    init(service: String, accessGroup: String?) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// Returns the query for one key, or for all.
    func query(key: String? = nil) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrSynchronizable as String: kSecAttrSynchronizableAny,
        ]
        if let key = key { query[kSecAttrAccount as String] = key }
        if let accessGroup = accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
    }

    /// Returns the attributes of a value that is stored.
    func attributes(value: Data) -> [String: Any] {
        var attributes: [String: Any] = [
            kSecValueData as String: value,
            kSecAttrAccessible as String: accessibility.rawValue,
            kSecAttrSynchronizable as String: isSynchronizable,
        ]
        if let label = label { attributes[kSecAttrLabel as String] = label }
        if let comment = comment { attributes[kSecAttrComment as String] = comment }
        return attributes
    }
}
