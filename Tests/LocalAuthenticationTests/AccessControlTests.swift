// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import LocalAuthentication
import SecretMemory
import Security
import Testing

@Suite("Access controls of LAContext")
struct AccessControlTests {
    static func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil))
    }

    static let uses: [LAAccessControlOperation] = [.useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange]
    static let creations: [LAAccessControlOperation] = [.createItem, .createKey]

    @Test("The use of an item asks for its constraints", arguments: uses)
    func use(_ operation: LAAccessControlOperation) async throws {
        let keychain = FakeKeychain()
        let control = try Self.control([.biometryAny, .or, .devicePasscode, .privateKeyUsage])
        try await keychain.run {
            let context = LAContext()
            #expect(try await context.evaluateAccessControl(control, operation: operation, localizedReason: "a test"))
            let flags: AccessControlFlags = [.biometryAny, .or, .devicePasscode, .privateKeyUsage]
            #expect(keychain.prompts.map(\.target) == [.accessControl(flags)])
            // The context now satisfies the access control, without a second prompt.
            #expect(try context.authentication().interaction == .allow)
            try await context.evaluateAccessControl(control, operation: operation, localizedReason: "a test")
            #expect(keychain.prompts.count == 1)
        }
    }

    @Test("The creation of an item asks for nothing but a missing application password", arguments: creations)
    func creation(_ operation: LAAccessControlOperation) async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let presence = try Self.control(.userPresence)
            try await LAContext().evaluateAccessControl(presence, operation: operation, localizedReason: "a test")
            #expect(keychain.prompts.isEmpty)

            let password = try Self.control([.userPresence, .applicationPassword])
            let context = LAContext()
            #expect(context.setCredential(Data("s3cret".utf8), type: .applicationPassword))
            try await context.evaluateAccessControl(password, operation: operation, localizedReason: "a test")
            #expect(keychain.prompts.isEmpty)

            try await LAContext().evaluateAccessControl(password, operation: operation, localizedReason: "a test")
            #expect(
                keychain.prompts.map(\.target) == [.newItem(label: "", [.userPresence, .applicationPassword])])
        }
    }

    @Test("An access control without constraints needs no authentication")
    func plain() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            context.interactionNotAllowed = true
            for flags in [[], .privateKeyUsage] as [SecAccessControlCreateFlags] {
                try await context.evaluateAccessControl(
                    try Self.control(flags), operation: .useKeySign, localizedReason: "a test")
            }
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test("With interactionNotAllowed, only an application password that is set suffices")
    func silent() async throws {
        let keychain = FakeKeychain()
        let password = try Self.control(.applicationPassword)
        let both = try Self.control([.userPresence, .applicationPassword])
        try await keychain.run {
            let context = LAContext()
            context.interactionNotAllowed = true
            var error = await #expect(throws: LAError.self) {
                try await context.evaluateAccessControl(password, operation: .useItem, localizedReason: "a test")
            }
            #expect(error?.code == .notInteractive)
            context.setCredential(Data("s3cret".utf8), type: .applicationPassword)
            try await context.evaluateAccessControl(password, operation: .useItem, localizedReason: "a test")
            try await context.evaluateAccessControl(both, operation: .createItem, localizedReason: "a test")
            error = await #expect(throws: LAError.self) {
                try await context.evaluateAccessControl(both, operation: .useItem, localizedReason: "a test")
            }
            #expect(error?.code == .notInteractive)
        }
    }

    @Test("An application password reaches the keychain's context, before and after it is created, and can be removed")
    func credentials() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            #expect(!context.isCredentialSet(.applicationPassword))
            #expect(context.setCredential(Data("first".utf8), type: .applicationPassword))
            #expect(context.isCredentialSet(.applicationPassword))
            let id = try #require(context.authentication().context)
            let stored = { keychain.snapshot.contexts[id]?.password?.withUnsafeBytes { Array($0) } }
            #expect(stored() == Array("first".utf8))
            #expect(context.setCredential(Data("second".utf8), type: .applicationPassword))
            #expect(stored() == Array("second".utf8))
            #expect(context.setCredential(nil, type: .applicationPassword))
            #expect(stored() == nil && !context.isCredentialSet(.applicationPassword))
        }
    }

    @Test("After a restart of the keychain's service, a password can be set and reaches the next context")
    func restart() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            let first = try context.authentication().context
            keychain.change { $0.contexts = [:] }
            #expect(context.setCredential(Data("s3cret".utf8), type: .applicationPassword))
            let second = try #require(context.authentication().context)
            #expect(second != first)
            #expect(keychain.snapshot.contexts[second]?.password == SharedSecret(copying: Array("s3cret".utf8)))
        }
    }

    @Test("A PIN of a smart card is not supported")
    func smartCard() {
        let context = LAContext()
        #expect(!context.setCredential(Data("1234".utf8), type: .smartCardPIN))
        #expect(!context.isCredentialSet(.smartCardPIN))
    }

    @Test("An item call gets the context's handle, its reason and whether it may ask")
    func itemCalls() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            context.localizedReason = "Show the notes"
            let first = try context.authentication()
            #expect(first.interaction == .allow && first.reason == "Show the notes" && first.context != nil)
            context.interactionNotAllowed = true
            let second = try context.authentication()
            #expect(second.interaction == .fail && second.context == first.context)
        }
    }
}
