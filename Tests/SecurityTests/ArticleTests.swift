// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// The lines of Swift in the articles of LatchkeySecurity.docc. DocumentationPagesTests compares
/// them.
@Suite("Articles of LatchkeySecurity")
struct ArticleTests {
    @Test("The lines of \"Start in five minutes\" compile and behave as stated")
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

    @Test("The lines of README find an item")
    func readme() throws {
        try withKeychain(.ephemeral) { _ in
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "example.com",
                kSecAttrAccount as String: "alice",
                kSecValueData as String: Data("s3cret".utf8),
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "example.com", kSecAttrAccount as String: "alice",
                kSecReturnData as String: true,
            ]
            var result: CFTypeRef?
            var found: Data?
            if SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let data = result as? Data {
                found = data
            }
            #expect(found == Data("s3cret".utf8))
        }
    }

    @Test("The lines about porting and about tests compile and behave as stated")
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

    @Test("The lines of \"Cookbook\" about items compile and behave as stated")
    func items() throws {
        try withKeychain(.ephemeral) { _ in
            let account: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "com.example.account",
                kSecAttrAccount as String: "alice",
                kSecUseDataProtectionKeychain as String: true,
            ]
            for _ in 1...2 {
                let content: [String: Any] = [kSecValueData as String: Data("t0ken".utf8)]
                var status = SecItemUpdate(account as CFDictionary, content as CFDictionary)
                if status == errSecItemNotFound {
                    status = SecItemAdd(account.merging(content) { $1 } as CFDictionary, nil)
                }
                #expect(status == errSecSuccess)
            }
            var all = account
            all[kSecAttrAccount as String] = nil
            all[kSecReturnAttributes as String] = true
            all[kSecMatchLimit as String] = kSecMatchLimitAll
            var items: CFTypeRef?
            let listed = SecItemCopyMatching(all as CFDictionary, &items)
            let names = (items as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
            #expect(listed == errSecSuccess && names == ["alice"])

            var refusal: Unmanaged<CFError>?
            let control = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &refusal)
            #expect(control != nil && refusal == nil)
        }
    }

    @Test("The lines of \"Cookbook\" about keys and random bytes compile and behave as stated")
    func keys() throws {
        try withKeychain(.ephemeral) { _ in
            let message = Data("GET /account".utf8)
            var sent: [Data] = []
            func send(_ message: Data, _ signature: Data) { sent = [message, signature] }

            let half: [String: Any] = [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: Data("com.example.device".utf8),
            ]
            let parameters: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeySizeInBits as String: 256,
                kSecPrivateKeyAttrs as String: half,
            ]
            var failure: Unmanaged<CFError>?
            if let key = SecKeyCreateRandomKey(parameters as CFDictionary, &failure),
                let signature = SecKeyCreateSignature(
                    key, .ecdsaSignatureMessageX962SHA256, message as CFData, &failure)
            {
                send(message, signature as Data)
            }
            #expect(sent.first == message && sent.count == 2 && failure == nil)

            var bytes = [UInt8](repeating: 0, count: 32)
            let filled = SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
            #expect(filled == errSecSuccess && bytes.contains { $0 != 0 })
        }
    }
}
