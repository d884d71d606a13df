// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyClient
import LinuxSystem
import Security
import Testing

/// The `kSecUse…` keys about authentication (keychain-behaviour §3.9), before a keychain that asks
/// the person for its item and its key.
@Suite("Authentication keys of dictionaries")
struct AuthenticationTests {
    /// Runs a body; its calls use `service`.
    private func with<Result>(_ service: AskingService, _ body: () throws -> Result) rethrows -> Result {
        let caller = CallerContext(identity: CallerIdentity(executable: "/usr/bin/program"), service: service)
        return try CallerContext.$current.withValue(caller) { try body() }
    }

    private var change: Query { ["labl": "new"] }
    private var control: SecAccessControl {
        get throws {
            try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        }
    }

    @Test("Each call asks the person by itself, with the reason, and ends the context that it needed")
    func asking() throws {
        let service = AskingService()
        with(service) {
            let reason: Query = ["u_OpPrompt": "show the password"]
            #expect(copy(genericKey.with(reason).with(.returnData)).text == "s3cret")
            #expect(update(genericKey.with(reason), change) == errSecSuccess)
            #expect(add(genericItem.with(reason)) == errSecSuccess)
        }
        #expect(service.questions.count == 3)
        for question in service.questions {
            #expect(question.prompt.reason == "show the password")
            #expect(question.target == .item(service.item.persistentReference))
        }
        #expect(service.openContexts == 0)
    }

    @Test(
        "With Fail, or with the older key, a call is answered with errSecInteractionNotAllowed and does not ask",
        arguments: [
            ["u_AuthUI": "u_AuthUIF"], ["u_NoAuthUI": true], ["u_AuthUI": "u_AuthUIA", "u_NoAuthUI": true],
            ["u_AuthUI": "u_AuthUIF", "u_NoAuthUI": false],
        ] as [[String: any Sendable]])
    func failing(_ keys: [String: any Sendable]) throws {
        let service = AskingService()
        with(service) {
            #expect(copy(genericKey.with(keys)).status == errSecInteractionNotAllowed)
            #expect(update(genericKey.with(keys), change) == errSecInteractionNotAllowed)
            #expect(add(genericItem.with(keys)) == errSecInteractionNotAllowed)
            #expect(delete(genericKey.with(keys)) == errSecSuccess, "a deletion needs no authentication")
        }
        #expect(service.questions.isEmpty && service.openContexts == 0)
    }

    @Test("With Skip a search leaves out the item, also with the older key; other calls refuse Skip")
    func skipping() throws {
        let service = AskingService()
        try with(service) {
            let skip: Query = ["u_AuthUI": "u_AuthUIS"]
            #expect(copy(genericKey.with(skip)).status == errSecItemNotFound)
            #expect(copy(genericKey.with(skip).with(["u_NoAuthUI": true])).status == errSecItemNotFound)
            #expect(add(genericItem.with(skip)) == errSecParam)
            #expect(update(genericKey.with(skip), change) == errSecParam)
            #expect(delete(genericKey.with(skip)) == errSecParam)
            let key = ["type": 73, "bsiz": 256, "private": ["perm": true, "accc": try control].with(skip)] as Query
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateRandomKey(key as CFDictionary, &error) == nil)
            #expect(error?.takeRetainedValue().code == -50)
        }
        #expect(service.questions.isEmpty)
    }

    @Test("Calls with one context ask once, and the context lives as long as the caller's object")
    func context() throws {
        let service = AskingService()
        try with(service) {
            let source = TestContext(AuthenticationContext())
            let keys: Query = ["u_AuthCtx": source]
            let identifier = try source.context.identifier()
            withExtendedLifetime(source) {
                #expect(copy(genericKey.with(keys).with(.returnData)).text == "s3cret")
                #expect(copy(genericKey.with(keys).with(.returnAttributes)).status == errSecSuccess)
                #expect(update(genericKey.with(keys), change) == errSecSuccess)
                #expect(add(genericItem.with(keys)) == errSecSuccess)
                #expect(service.questions.count == 1 && service.openContexts == 1)
                #expect(Set(service.calls.map(\.authentication.context)) == [identifier])
                // Neither the reason of the context nor its choice is lost.
                source.reason = "of the context"
                #expect(copy(genericKey.with(keys)).status == errSecSuccess)
                #expect(service.calls.last?.authentication.reason == "of the context")
                #expect(copy(genericKey.with(keys).with(["u_OpPrompt": "of the call"])).status == errSecSuccess)
                #expect(service.calls.last?.authentication.reason == "of the call")
            }
        }
        #expect(service.openContexts == 0)
    }

    @Test("A context that forbids interaction forbids it to the call; one that was invalidated fails with authFailed")
    func contextWithoutInteraction() {
        let service = AskingService()
        with(service) {
            let source = TestContext(AuthenticationContext())
            source.interaction = .fail
            let keys: Query = ["u_AuthCtx": source, "u_AuthUI": "u_AuthUIA"]
            #expect(copy(genericKey.with(keys)).status == errSecInteractionNotAllowed)
            source.interaction = .allow
            source.context.invalidate()
            #expect(copy(genericKey.with(keys)).status == errSecAuthFailed)
        }
        #expect(service.questions.isEmpty)
    }

    @Test("A context of another type, and a reason that is not a string, are refused before anything is done")
    func wrongTypes() {
        let service = AskingService()
        with(service) {
            for keys in [["u_AuthCtx": NSObject()], ["u_AuthCtx": "context"], ["u_OpPrompt": 1]] as [Query] {
                #expect(add(genericItem.with(keys)) == errSecParam)
                #expect(copy(genericKey.with(keys)).status == errSecParam)
                #expect(update(genericKey.with(keys), change) == errSecParam)
                #expect(delete(genericKey.with(keys)) == errSecParam)
                for parameters in [["private": ["perm": true].with(keys)], ["perm": true].with(keys)] as [Query] {
                    var error: Unmanaged<CFError>?
                    let all = parameters.with(["type": 73, "bsiz": 256])
                    #expect(SecKeyCreateRandomKey(all as CFDictionary, &error) == nil)
                    #expect(error?.takeRetainedValue().code == -50)
                }
            }
        }
        #expect(service.calls.isEmpty && service.additions.isEmpty)
    }

    @Test("A new key gets the context from its private attributes or from the top level, and keeps it")
    func newKey() throws {
        for isTop in [true, false] {
            let service = AskingService()
            try with(service) {
                let source = TestContext(AuthenticationContext())
                let keys: Query = ["u_AuthCtx": source]
                let half = ["perm": true, "accc": try control].with(isTop ? [:] : keys)
                let parameters = ["type": 73, "bsiz": 256, "private": half].with(isTop ? keys : [:])
                let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
                #expect(service.additions.first?.accessControlFlags == .userPresence)
                #expect(
                    SecKeyCreateSignature(
                        key, .ecdsaSignatureMessageX962SHA256, data("message") as CFData, nil) != nil)
                let identifier = try source.context.identifier()
                #expect(Set(service.calls.map(\.authentication.context)) == [identifier])
                #expect(service.questions.count == 1)
                withExtendedLifetime(source) {}
            }
        }
    }

    @Test("A key from a search keeps the context alive, for signatures, agreement, decryption and export")
    func foundKey() throws {
        let service = AskingService()
        try with(service) {
            var source: TestContext? = TestContext(AuthenticationContext())
            let context = try source?.context.identifier()
            weak let observed = source
            let query = item(keys, ["u_AuthCtx": source as Any, "u_OpPrompt": "sign", "r_Ref": true])
            let key = try #require(copy(query).value as? SecKey)
            source = nil
            let uses: [(String, (SecKey) -> Any?)] = [
                ("useKey", { SecKeyCreateSignature($0, .ecdsaSignatureMessageX962SHA256, data("m") as CFData, nil) }),
                (
                    "useKey",
                    { key in
                        SecKeyCopyPublicKey(key).flatMap {
                            SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, $0, [:] as CFDictionary, nil)
                        }
                    }
                ),
                (
                    "useKey",
                    { key in
                        let sealed = SecKeyCopyPublicKey(key).flatMap {
                            SecKeyCreateEncryptedData(
                                $0, .eciesEncryptionStandardX963SHA256AESGCM, data("m") as CFData, nil)
                        }
                        return sealed.flatMap {
                            SecKeyCreateDecryptedData(key, .eciesEncryptionStandardX963SHA256AESGCM, $0, nil)
                        }
                    }
                ),
                ("exportKey", { SecKeyCopyExternalRepresentation($0, nil) }),
            ]
            for (name, use) in uses {
                let count = service.calls.count
                _ = use(key)
                #expect(service.calls.count == count + 1)
                #expect(
                    service.calls.last
                        == AskingService.Call(
                            name: name, authentication: Authentication(.allow, context: context, reason: "sign")))
            }
            #expect(observed != nil && service.questions.count == 1)
            withExtendedLifetime(key) {}
        }
    }

    @Test("A key that was found with Skip or Fail asks when it is used; the attributes of a key are read silently")
    func keyWithoutContext() throws {
        let service = AskingService()
        try with(service) {
            let source = TestContext(AuthenticationContext())
            try source.context.authenticate(for: .policy(.owner), prompt: AuthenticationPrompt())
            let query = item(keys, ["u_AuthCtx": source, "u_AuthUI": "u_AuthUIF", "r_Ref": true])
            let key = try #require(copy(query).value as? SecKey)
            #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, data("m") as CFData, nil) != nil)
            #expect(service.calls.last?.authentication.interaction == .allow)
            let other = try #require(copy(item(keys, ["r_Ref": true])).value as? SecKey)
            let questions = service.questions.count
            #expect(SecKeyCopyAttributes(other) != nil)
            #expect(service.questions.count == questions)
            withExtendedLifetime(source) {}
        }
    }

    @Test(
        "A cancelled prompt, a prompt without a place and every other failure are three different statuses",
        arguments: AuthenticationFailure.allCases)
    func failures(_ failure: AuthenticationFailure) throws {
        let expected =
            switch failure {
            case .userCancel: errSecUserCanceled
            case .notInteractive: errSecInteractionNotAllowed
            default: errSecAuthFailed
            }
        let service = AskingService { failure }
        try with(service) {
            #expect(copy(genericKey).status == expected)
            #expect(update(genericKey, change) == expected)
            #expect(add(genericItem) == expected)
            var error: Unmanaged<CFError>?
            let key = ["type": 73, "bsiz": 256, "perm": true, "accc": try control] as Query
            #expect(SecKeyCreateRandomKey(key as CFDictionary, &error) == nil)
            #expect(error?.takeRetainedValue().code == Int(expected))
        }
        #expect(service.openContexts == 0)
    }

    @Test("An access control that nothing satisfies ends after 20 questions with errSecAuthFailed")
    func rounds() {
        let service = AskingService(isSatisfiable: false)
        with(service) { #expect(copy(genericKey).status == errSecAuthFailed) }
        #expect(service.questions.count == 20 && service.openContexts == 0)
    }

    @Test("errSecAuthNeeded reaches no caller, also from calls that do not ask")
    func authenticationNeeded() {
        with(AskingService(refusesOtherCalls: true)) {
            #expect(delete(genericKey) == errSecAuthFailed)
            #expect(copy(item(keys, ["r_Ref": true])).status == errSecAuthFailed)
            var error: Unmanaged<CFError>?
            #expect(!SecItemDeleteAllWithAccessGroups(["group"] as NSArray, &error))
            #expect(error?.takeRetainedValue().code == Int(errSecAuthFailed))
        }
    }
}

/// A context as `LAContext` brings it.
private final class TestContext: NSObject, AuthenticationContextSource {
    let context: AuthenticationContext
    private let state = SystemMutex((interaction: Authentication.Interaction.allow, reason: ""))

    init(_ context: AuthenticationContext) {
        self.context = context
    }

    var interaction: Authentication.Interaction {
        get { state.withLock { $0.interaction } }
        set { state.withLock { $0.interaction = newValue } }
    }
    var reason: String {
        get { state.withLock { $0.reason } }
        set { state.withLock { $0.reason = newValue } }
    }

    func authentication() throws(KeychainError) -> Authentication {
        let (interaction, reason) = state.withLock { $0 }
        return Authentication(interaction, context: try context.identifier(), reason: reason)
    }
}
