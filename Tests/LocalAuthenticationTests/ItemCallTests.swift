// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import LocalAuthentication
import Security
import Testing

@Suite("LAContext in the calls of Security")
struct ItemCallTests {
    private static let service = "example.com"

    private func add() throws {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: Self.service,
            kSecAttrAccessControl as String: try #require(control), kSecValueData as String: Data("s3cret".utf8),
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }

    private func read(with context: Any?) -> (OSStatus, Data?) {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: Self.service,
            kSecReturnData as String: true,
        ]
        query[kSecUseAuthenticationContext as String] = context
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? Data)
    }

    @Test("A context asks once for several calls, with its reason")
    func once() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add()
            let context = LAContext()
            context.localizedReason = "Show the token"
            for _ in 0..<3 {
                let (status, data) = read(with: context)
                #expect(status == errSecSuccess && data == Data("s3cret".utf8))
            }
            #expect(keychain.prompts.map(\.prompt.reason) == ["Show the token"])
            #expect(read(with: LAContext()).0 == errSecSuccess && keychain.prompts.count == 2)
        }
    }

    @Test("A context that forbids interaction, one that was invalidated, and another object open nothing")
    func refusals() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add()
            let silent = LAContext()
            silent.interactionNotAllowed = true
            #expect(read(with: silent).0 == errSecInteractionNotAllowed)
            let invalid = LAContext()
            try await invalid.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            let prompts = keychain.prompts.count
            invalid.invalidate()
            #expect(read(with: invalid).0 == errSecAuthFailed)
            #expect(read(with: "a string").0 == errSecParam)
            #expect(keychain.prompts.count == prompts)
        }
    }

    @Test("A context of an app's own subclass opens items, too")
    func subclass() async throws {
        final class Context: LAContext, @unchecked Sendable {}
        let keychain = FakeKeychain()
        try await keychain.run {
            try add()
            #expect(read(with: Context()).0 == errSecSuccess)
        }
    }
}
