// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LocalAuthentication
import Testing

@Suite("LARight")
struct RightTests {
    @Test(
        "A right asks for the terms of its requirement",
        arguments: [
            (LAAuthenticationRequirement.default, AccessControlFlags.userPresence), (.biometry, .biometryAny),
            (.biometryCurrentSet, .biometryCurrentSet), (.biometry(fallback: .default), .userPresence),
            (.biometry(fallback: .devicePasscode), [.biometryAny, .or, .devicePasscode]),
        ] as [(LAAuthenticationRequirement, AccessControlFlags)])
    func requirements(_ requirement: LAAuthenticationRequirement, _ flags: AccessControlFlags) async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            try await LARight(requirement: requirement).authorize(localizedReason: "Open")
            #expect(keychain.prompts.map(\.target) == [.accessControl(flags)])
            #expect(keychain.prompts.first?.prompt.reason == "Open")
        }
    }

    @Test("The state follows the authorization, and every change is reported")
    func states() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let right = LARight()
            #expect(right.state == .unknown)
            var updates = right.stateUpdates.makeAsyncIterator()
            try await right.authorize(localizedReason: "a test")
            #expect(right.state == .authorized)
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            keychain.change { $0.person = .fails(.userCancel) }
            let error = await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "a test") }
            #expect(error?.code == .userCancel && right.state == .notAuthorized)
            var seen: [LARight.State?] = []
            for _ in 0..<5 { seen.append(await updates.next()) }
            #expect(seen == [.authorizing, .authorized, .notAuthorized, .authorizing, .notAuthorized])
        }
    }

    @Test("deauthorize ends the prompt, and the next authorization asks again")
    func deauthorization() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let right = LARight()
            try await right.authorize(localizedReason: "a test")
            try await right.authorize(localizedReason: "a test")
            #expect(keychain.prompts.count == 1)
            await right.deauthorize()
            #expect(keychain.snapshot.contexts.isEmpty)

            keychain.change { $0.person = .waits }
            let replies = Replies()
            right.authorize(localizedReason: "a test") { replies.append($0 == nil, $0) }
            #expect(await eventuallyInTask { keychain.prompts.count == 2 })
            #expect(right.state == .authorizing)
            await right.deauthorize()
            #expect(await eventuallyInTask { !replies.all.isEmpty })
            #expect((replies.all.first?.error as? LAError)?.code == .appCancel)
            #expect(right.state == .notAuthorized)
        }
    }

    @Test("The end of an earlier authorization does not end a later one")
    func overlap() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let right = LARight()
            for round in 1...50 {
                keychain.change { $0.person = .waits }
                let replies = Replies()
                right.authorize(localizedReason: "a test") { replies.append($0 == nil, $0) }
                #expect(await eventuallyInTask { keychain.prompts.count == 2 * round - 1 })
                keychain.change { $0.person = .authenticates }
                await right.deauthorize()
                try await right.authorize(localizedReason: "a test")
                #expect(await eventuallyInTask { !replies.all.isEmpty })
                #expect(right.state == .authorized)
                await right.deauthorize()
            }
        }
    }

    @Test("A failed authorization leaves nothing usable from an earlier one")
    func failureAfterSuccess() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let right = LARight()
            try await right.authorize(localizedReason: "a test")
            // The keychain was locked: the authentication is gone.
            keychain.change { state in
                for id in state.contexts.keys { state.contexts[id]?.isProven = false }
                state.person = .fails(.failed)
            }
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "a test") }
            #expect(right.state == .notAuthorized)
            #expect(keychain.snapshot.contexts.isEmpty)
        }
    }

    @Test(
        "checkCanAuthorize answers without a prompt",
        arguments: [
            (LAAuthenticationRequirement.default, PolicyTests.status(.notAvailable), nil),
            (.default, PolicyTests.status(.available, passcode: false), .passcodeNotSet),
            (.biometry, PolicyTests.status(.notAvailable), .biometryNotAvailable),
            (.biometryCurrentSet, PolicyTests.status(.notEnrolled), .biometryNotEnrolled),
            (.biometry(fallback: .devicePasscode), PolicyTests.status(.notAvailable), nil),
        ] as [(LAAuthenticationRequirement, PresenceStatus, LAError.Code?)])
    func check(_ requirement: LAAuthenticationRequirement, _ status: PresenceStatus, _ code: LAError.Code?) async {
        let keychain = FakeKeychain()
        keychain.change { $0.status = status }
        await keychain.run {
            let right = LARight(requirement: requirement)
            do {
                try await right.checkCanAuthorize()
                #expect(code == nil)
            } catch {
                #expect((error as? LAError)?.code == code && code != nil)
            }
            #expect(right.state == .unknown && keychain.prompts.isEmpty)
        }
    }

    @Test("An empty reason is refused, and the right is not authorized")
    func emptyReason() async {
        let keychain = FakeKeychain()
        await keychain.run {
            let right = LARight()
            let error = await #expect(throws: NSError.self) { try await right.authorize(localizedReason: "") }
            #expect(error?.code == -50 && right.state == .notAuthorized)
        }
    }

    @Test("The tag is the app's own, and requirements are compared by their terms")
    func values() {
        #expect([LARight.State.unknown, .authorizing, .authorized, .notAuthorized].map(\.rawValue) == [0, 1, 2, 3])
        let right = LARight()
        #expect(right.tag == 0)
        right.tag = 7
        #expect(right.tag == 7)
        #expect(LAAuthenticationRequirement.default.isEqual(LAAuthenticationRequirement.default))
        #expect(!LAAuthenticationRequirement.default.isEqual(LAAuthenticationRequirement.biometry))
        #expect(
            LAAuthenticationRequirement.biometry(fallback: .devicePasscode)
                == LAAuthenticationRequirement.biometry(fallback: .devicePasscode))
    }
}
