// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import LocalAuthentication
import Presence
import SecretMemory
import Security
import Testing

/// LocalAuthentication on keychains as programs have them, with a person who answers as the test says.
@Suite("LocalAuthentication on a keychain")
struct KeychainTests {
    private let passcode = "passcode of the test"
    private let message = Data("message".utf8)

    private func withKeychain(
        _ backend: Backend, fingers: [String] = [], _ body: (TestKeychain, ScriptedPerson) async throws -> Void
    ) async throws {
        let person = ScriptedPerson()
        let keychain = try TestKeychain(backend, person: person)
        if let first = fingers.first { person.enroll(first) }
        try keychain.service.administrator.setPasscode(SharedSecret(copying: passcode.utf8)) { _, _ in }
        let identity = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])
        let caller = CallerContext(identity: identity, service: keychain.service, place: ScriptedPerson.place)
        try await CallerContext.$current.withValue(caller) { try await body(keychain, person) }
        #expect(person.unusedAnswers == 0)
    }

    private func add(_ flags: SecAccessControlCreateFlags, _ context: LAContext? = nil) throws {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil)
        var item = query
        item[kSecAttrAccessControl as String] = control
        item[kSecValueData as String] = Data("s3cret".utf8)
        item[kSecUseAuthenticationContext as String] = context
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }

    private func read(with context: LAContext) -> (OSStatus, Data?) {
        var query = query
        query[kSecUseAuthenticationContext as String] = context
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? Data)
    }

    private let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "example.com",
    ]

    @Test(
        "An evaluated context opens items without another prompt, until the keychain is locked",
        arguments: Backend.everywhere)
    func evaluation(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            try add(.userPresence)
            let context = LAContext()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            person.will(.types(passcode))
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show the token")
            #expect(person.takeQuestions().map(\.reason) == ["Show the token"])
            for _ in 0..<2 { #expect(read(with: context) == (errSecSuccess, Data("s3cret".utf8))) }
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "again")
            #expect(person.takeQuestions().isEmpty)

            try keychain.service.administrator.lock(immediately: true)
            try keychain.service.administrator.unlock(SharedSecret(copying: passcode.utf8)) { _, _ in }
            context.interactionNotAllowed = true
            #expect(read(with: context).0 == errSecInteractionNotAllowed)
        }
    }

    @Test("The person's action arrives with Apple's code", arguments: Backend.everywhere)
    func failures(_ backend: Backend) async throws {
        try await withKeychain(backend) { _, person in
            let cases: [(ScriptedPerson.Answer, LAError.Code)] = [
                (.cancels, .userCancel), (.doesNothing, .systemCancel), (.isAway, .notInteractive),
            ]
            for (answer, code) in cases {
                person.will(answer)
                let error = await #expect(throws: LAError.self) {
                    try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
                }
                #expect(error?.code == code)
            }
            person.will(.types("wrong"), .types("wrong"), .types("wrong"))
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code == .authenticationFailed)
        }
    }

    @Test(
        "An invalidation during a prompt fails with appCancel, and the passcode opens nothing", .long,
        arguments: Backend.everywhere)
    func invalidation(_ backend: Backend) async throws {
        try await withKeychain(backend) { _, person in
            try add(.userPresence)
            let context = LAContext()
            person.will(.after({ context.invalidate() }, types: passcode))
            let error = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code == .appCancel)
            #expect(read(with: context).0 == errSecAuthFailed)
        }
    }

    @Test(
        "An application password from the context opens an item; without it, the person is asked",
        arguments: Backend.everywhere)
    func applicationPassword(_ backend: Backend) async throws {
        try await withKeychain(backend) { _, person in
            let context = LAContext()
            #expect(context.setCredential(Data("password".utf8), type: .applicationPassword))
            try add(.applicationPassword, context)
            #expect(read(with: context) == (errSecSuccess, Data("s3cret".utf8)))
            let other = LAContext()
            #expect(other.setCredential(Data("password".utf8), type: .applicationPassword))
            other.interactionNotAllowed = true
            #expect(read(with: other).0 == errSecSuccess)
            #expect(person.takeQuestions().isEmpty)
            person.will(.types("password"))
            #expect(read(with: LAContext()).0 == errSecSuccess)
        }
    }

    @Test(
        "isCredentialSet is false after an item call has dropped a wrong application password",
        arguments: Backend.everywhere)
    func droppedPassword(_ backend: Backend) async throws {
        try await withKeychain(backend) { _, person in
            let context = LAContext()
            #expect(context.setCredential(Data("password".utf8), type: .applicationPassword))
            try add(.applicationPassword, context)
            #expect(read(with: context).0 == errSecSuccess && context.isCredentialSet(.applicationPassword))

            let other = LAContext()
            other.interactionNotAllowed = true
            #expect(other.setCredential(Data("wrong".utf8), type: .applicationPassword))
            #expect(other.isCredentialSet(.applicationPassword))
            #expect(read(with: other).0 == errSecInteractionNotAllowed)
            #expect(!other.isCredentialSet(.applicationPassword))
            // The dropped one does not come back with a new context of the service.
            let values = try other.authentication()
            _ = try values.owner?.identifier(replacing: #require(values.context))
            #expect(!other.isCredentialSet(.applicationPassword))
            #expect(other.setCredential(Data("password".utf8), type: .applicationPassword))
            #expect(other.isCredentialSet(.applicationPassword) && read(with: other).0 == errSecSuccess)
            #expect(other.setCredential(nil, type: .applicationPassword))
            #expect(!other.isCredentialSet(.applicationPassword) && read(with: other).0 == errSecInteractionNotAllowed)

            // One that the person types is set, too.
            let asking = LAContext()
            #expect(!asking.isCredentialSet(.applicationPassword))
            person.will(.types("password"))
            #expect(read(with: asking).0 == errSecSuccess && asking.isCredentialSet(.applicationPassword))
        }
    }

    @Test(
        "A saved right opens its key and its secret for the person, and for nothing else", arguments: Backend.everywhere
    )
    func right(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            let token = Data("s3cret".utf8)
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "vault", secret: token)
            let right = try await LARightStore.shared.right(forIdentifier: "vault")
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            await #expect(throws: LAError.self) { try await right.key.sign(message, algorithm: algorithm) }
            person.will(.types(passcode))
            try await right.authorize(localizedReason: "Open the vault")
            #expect(person.takeQuestions().count == 1)
            let signature = try await right.key.sign(message, algorithm: algorithm)
            try await right.key.publicKey.verify(message, signature: signature, algorithm: algorithm)
            let secret = try await right.secret.rawData
            #expect(secret == token)

            // The right still says that it is authorized, but the keychain has wiped the authentication.
            try keychain.service.administrator.lock(immediately: true)
            try keychain.service.administrator.unlock(SharedSecret(copying: passcode.utf8)) { _, _ in }
            #expect(right.state == .authorized)
            let error = await #expect(throws: LAError.self) { try await right.secret.rawData }
            #expect(error?.code == .notInteractive && person.questions.isEmpty)

            try await LARightStore.shared.removeAllRights()
            let missing = await #expect(throws: NSError.self) {
                try await LARightStore.shared.right(forIdentifier: "vault")
            }
            #expect(missing?.code == Int(errSecItemNotFound))
        }
    }

    @Test("A right is lost with the passcode", arguments: Backend.everywhere)
    func passcodeRemoval(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, _ in
            let right = try await LARightStore.shared.saveRight(LARight(), identifier: "vault", secret: message)
            _ = try keychain.service.administrator.removePasscode(SharedSecret(copying: passcode.utf8)) { _, _ in }
            let missing = await #expect(throws: NSError.self) {
                try await LARightStore.shared.right(forIdentifier: "vault")
            }
            #expect(missing?.code == Int(errSecItemNotFound))
            let lost = await #expect(throws: NSError.self) { try await right.authorize(localizedReason: "a test") }
            #expect(lost?.code == Int(errSecItemNotFound) && right.state == .notAuthorized)
        }
    }

    @Test(
        "With biometry, a touch opens a right; a right of the current set is lost when a finger is added",
        arguments: Backend.daemons)
    func biometry(_ backend: Backend) async throws {
        try await withKeychain(backend, fingers: ["left"]) { _, person in
            let context = LAContext()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            #expect(context.biometryType == .touchID)
            let state = context.evaluatedPolicyDomainState
            let right = try await LARightStore.shared.saveRight(
                LARight(requirement: .biometryCurrentSet), identifier: "vault", secret: message)
            person.will(touch: .matches)
            try await right.authorize(localizedReason: "a test")
            #expect(try await right.secret.rawData == message)

            person.enroll("left", "right")
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            #expect(context.evaluatedPolicyDomainState != state && state != nil)
            let again = try await LARightStore.shared.right(forIdentifier: "vault")
            person.will(touch: .matches)
            try await again.authorize(localizedReason: "a test")
            let error = await #expect(throws: NSError.self) { try await again.secret.rawData }
            #expect(error?.code == Int(errSecItemNotFound))
        }
    }

    @Test("canEvaluatePolicy denies biometry from a start of latchkeyd to the first unlock", arguments: Backend.daemons)
    func biometryAfterRestart(_ backend: Backend) async throws {
        let person = ScriptedPerson()
        person.enroll("left")
        let keychain = try TestKeychain(backend, person: person)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: passcode.utf8)) { _, _ in }
        let restarted = try keychain.reopened()
        let identity = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])
        let caller = CallerContext(identity: identity, service: restarted.service, place: ScriptedPerson.place)
        CallerContext.$current.withValue(caller) {
            let context = LAContext()
            var error: NSError?
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
            #expect((error as? LAError)?.code == .biometryNotAvailable)
            #expect(error?.localizedRecoverySuggestion == "latchkey unlock")
            #expect(context.biometryType == .touchID && context.evaluatedPolicyDomainState == nil)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(throws: Never.self) {
                try restarted.service.administrator.unlock(SharedSecret(copying: passcode.utf8)) { _, _ in }
            }
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        }
    }

    // MARK: A restart of latchkeyd

    private func restart(_ keychain: TestKeychain) throws {
        try keychain.restartDaemon()
        try keychain.service.administrator.unlock(SharedSecret(copying: passcode.utf8)) { _, _ in }
    }

    @Test(
        "After a restart of latchkeyd, an evaluated context asks once more and then opens items again",
        arguments: Backend.daemons)
    func itemsAfterRestart(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            try add(.userPresence)
            let context = LAContext()
            person.will(.types(passcode))
            #expect(read(with: context).0 == errSecSuccess)
            for _ in 0..<2 {
                try restart(keychain)
                _ = person.takeQuestions()
                // Nothing that was proven outlives the restart.
                context.interactionNotAllowed = true
                #expect(read(with: context).0 == errSecInteractionNotAllowed && person.questions.isEmpty)
                context.interactionNotAllowed = false
                person.will(.types(passcode))
                for _ in 0..<2 { #expect(read(with: context) == (errSecSuccess, Data("s3cret".utf8))) }
                #expect(person.questions.count == 1)
            }
        }
    }

    @Test("A context that was invalidated stays invalid after a restart of latchkeyd", arguments: Backend.daemons)
    func invalidAfterRestart(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            try add(.userPresence)
            let (before, after) = (LAContext(), LAContext())
            person.will(.types(passcode), .types(passcode))
            for context in [before, after] { #expect(read(with: context).0 == errSecSuccess) }
            before.invalidate()
            try restart(keychain)
            after.invalidate()
            _ = person.takeQuestions()
            for context in [before, after] { #expect(read(with: context).0 == errSecAuthFailed) }
            #expect(person.questions.isEmpty)
        }
    }

    @Test(
        "After a restart of latchkeyd, an application password that the program has set opens its items again",
        arguments: Backend.daemons)
    func passwordAfterRestart(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            let context = LAContext()
            #expect(context.setCredential(Data("password".utf8), type: .applicationPassword))
            try add(.applicationPassword, context)
            try restart(keychain)
            context.interactionNotAllowed = true
            #expect(read(with: context).0 == errSecSuccess)
            #expect(context.isCredentialSet(.applicationPassword) && person.questions.isEmpty)
        }
    }

    @Test("A key that was found with a context signs again after a restart of latchkeyd", arguments: Backend.daemons)
    func keyAfterRestart(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            let context = LAContext()
            let control = try AccessControlTests.control([.privateKeyUsage, .userPresence])
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
                kSecUseAuthenticationContext as String: context,
                kSecPrivateKeyAttrs as String: [
                    kSecAttrIsPermanent as String: true, kSecAttrAccessControl as String: control,
                ] as [String: Any],
            ]
            let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
            let sign = {
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, nil) != nil
            }
            person.will(.types(passcode))
            #expect(sign() && sign())
            try restart(keychain)
            _ = person.takeQuestions()
            person.will(.types(passcode))
            #expect(sign() && sign() && person.questions.count == 1)
        }
    }

    @Test("A right that was authorized before a restart of latchkeyd is authorized again", arguments: Backend.daemons)
    func rightAfterRestart(_ backend: Backend) async throws {
        try await withKeychain(backend) { keychain, person in
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "vault", secret: message)
            let right = try await LARightStore.shared.right(forIdentifier: "vault")
            person.will(.types(passcode))
            try await right.authorize(localizedReason: "a test")
            try restart(keychain)
            let error = await #expect(throws: LAError.self) { try await right.secret.rawData }
            #expect(error?.code == .notInteractive)
            person.will(.types(passcode))
            try await right.authorize(localizedReason: "a test")
            let secret = try await right.secret.rawData
            #expect(secret == message)
        }
    }
}
