// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// The lines of Swift in the articles of LatchkeySecurity.docc. DocumentationPagesTests compares
/// them.
@Suite("Articles of LatchkeySecurity")
struct ArticleTests {
    @Test("The lines of \"Start in five minutes\" compile and do what they say")
    func start() throws {
        try withKeychain(.ephemeral) { _ in
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "example.com",
                kSecAttrAccount as String: "alice",
                kSecValueData as String: Data("s3cret".utf8),
            ]
            let added = SecItemAdd(item as CFDictionary, nil)
            #expect(added == errSecSuccess)
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "example.com",
                kSecAttrAccount as String: "alice",
                kSecReturnData as String: true,
            ]
            var result: CFTypeRef?
            let found = SecItemCopyMatching(query as CFDictionary, &result)
            let secret = (result as? Data).map { String(decoding: $0, as: UTF8.self) }
            #expect(found == errSecSuccess && secret == "s3cret")
            let message = SecCopyErrorMessageString(errSecItemNotFound, nil)
            #expect(message != nil)
        }
    }

    @Test("The lines about porting and about tests compile and do what they say")
    func others() throws {
        try withKeychain(.ephemeral, groups: ["com.example.shared"]) { _ in
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "example.com",
                kSecAttrAccount as String: "alice",
                kSecAttrAccessGroup as String: "com.example.shared",
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock,
                kSecValueData as String: Data("s3cret".utf8),
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let all: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.tests",
            ]
            let deleted = SecItemDelete(all as CFDictionary)
            #expect(deleted == errSecItemNotFound)
        }
    }
}
