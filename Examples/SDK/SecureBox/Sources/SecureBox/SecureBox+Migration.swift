// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

extension SecureBox {
    /// Copies the items that a query finds into the box, under their accounts: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: the class and other attributes; neither a limit nor a kind of result.
    ///   - removesItems: whether the items are removed afterwards.
    public func migrateObjects(matching query: [String: AnyHashable], removesItems: Bool) throws {
        let reserved = [kSecMatchLimit, kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef]
        guard query[kSecClass as String] != nil, reserved.allSatisfy({ query[$0 as String] == nil }) else {
            throw BoxError.invalidQuery
        }
        let found = try attributes(matching: query)
        guard !found.isEmpty else { throw BoxError.itemNotFound }

        var values: [String: Data] = [:]
        for attributes in found {
            guard let key = account(in: attributes),
                let reference = attributes[kSecValuePersistentRef as String] as? Data
            else { throw BoxError.invalidQuery }
            let isNew = try !containsObject(forKey: key)
            guard isNew, values[key] == nil else { throw BoxError.duplicateKey(key) }
            values[key] = try data(matching: [kSecValuePersistentRef as String: reference])
        }

        var stored: [String] = []
        do {
            for (key, value) in values {
                try setObject(value, forKey: key)
                stored.append(key)
            }
        } catch {
            for key in stored { try? removeObject(forKey: key) }
            throw error
        }
        if removesItems { try remove(matching: query) }
    }

    /// Accounts are text, or the bytes of a text.
    private func account(in attributes: [String: Any]) -> String? {
        let account = attributes[kSecAttrAccount as String]
        return account as? String ?? (account as? Data).flatMap { String(data: $0, encoding: .utf8) }
    }
}
