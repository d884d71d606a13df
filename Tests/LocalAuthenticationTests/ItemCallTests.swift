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

    private func read(with context: Any?, _ keys: [String: Any] = [:]) -> (OSStatus, Data?) {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: Self.service,
            kSecReturnData as String: true,
        ]
        query[kSecUseAuthenticationContext as String] = context
        query.merge(keys) { $1 }
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

    @Test("The prompt of an item call has the texts and the reuse of its context, as they are at the call")
    func texts() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add()
            let context = LAContext()
            #expect(read(with: context).0 == errSecSuccess)
            #expect(keychain.prompts.last?.prompt == AuthenticationPrompt())
            let other = LAContext()
            other.localizedReason = "Show the token"
            other.localizedCancelTitle = "Not now"
            other.localizedFallbackTitle = "Type it"
            other.touchIDAuthenticationAllowableReuseDuration = 1000
            #expect(read(with: other).0 == errSecSuccess)
            let expected = AuthenticationPrompt(
                reason: "Show the token", cancelTitle: "Not now", fallbackTitle: "Type it", reuse: 300)
            #expect(keychain.prompts.last?.prompt == expected)
            // An empty title of the cancel button is the default; an empty fallback offers none.
            let plain = LAContext()
            (plain.localizedCancelTitle, plain.localizedFallbackTitle) = ("", "")
            plain.touchIDAuthenticationAllowableReuseDuration = .nan
            #expect(read(with: plain).0 == errSecSuccess)
            #expect(keychain.prompts.last?.prompt == AuthenticationPrompt(fallbackTitle: ""))
        }
    }

    @Test("The reason of the call takes precedence over the context's reason; the titles stay")
    func reasonOfCall() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add()
            let context = LAContext()
            (context.localizedReason, context.localizedCancelTitle) = ("of the context", "Not now")
            #expect(read(with: context, [kSecUseOperationPrompt as String: "of the call"]).0 == errSecSuccess)
            let expected = AuthenticationPrompt(reason: "of the call", cancelTitle: "Not now")
            #expect(keychain.prompts.last?.prompt == expected)
        }
    }

    @Test("interactionNotAllowed of the context means Fail, with any kSecUseAuthenticationUI")
    func silence() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try add()
            let context = LAContext()
            context.interactionNotAllowed = true
            let allow = [kSecUseAuthenticationUI as String: kSecUseAuthenticationUIAllow]
            for keys in [[:], allow] { #expect(read(with: context, keys).0 == errSecInteractionNotAllowed) }
            #expect(keychain.prompts.isEmpty)
            context.interactionNotAllowed = false
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            // A proven context needs no interaction.
            context.interactionNotAllowed = true
            #expect(read(with: context).0 == errSecSuccess && keychain.prompts.count == 1)
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
