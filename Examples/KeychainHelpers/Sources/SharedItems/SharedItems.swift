// SPDX-License-Identifier: Apache-2.0

import Security

/// The operations of three programs with different identifiers on one account of one service. The entitlements of a
/// program, not this code, determine the items that it finds.
public enum SharedItems {
    /// `add SECRET`, or `list [GROUP]`. Prints the status and the secrets found.
    public static func run(_ arguments: ArraySlice<String>) {
        switch (arguments.first, arguments.dropFirst().first) {
        case ("add", let secret?): print(add(secret))
        case ("list", let group):
            let (status, secrets) = list(in: group)
            print(([status.description] + secrets).joined(separator: " "))
        default: print("usage: add SECRET | list [GROUP]")
        }
    }

    private static func add(_ secret: String) -> OSStatus {
        SecItemAdd(item.merging([kSecValueData as String: Data(secret.utf8)]) { $1 } as CFDictionary, nil)
    }

    private static func list(in group: String?) -> (OSStatus, [String]) {
        var query = item
        query[kSecAttrAccessGroup as String] = group
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, (result as? [Data] ?? []).map { String(decoding: $0, as: UTF8.self) }.sorted())
    }

    private static var item: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "example.com",
            kSecAttrAccount as String: "alice",
        ]
    }
}
