// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LocalAuthentication
import Security
import Testing

@Suite("Evaluations of LAContext")
struct EvaluationTests {
    @Test("A successful evaluation replies once with true, on another thread")
    func success() async throws {
        let keychain = FakeKeychain()
        let replies = Replies()
        await keychain.run {
            let context = LAContext()
            let caller = pthread_self()
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show the notes") { isSuccess, error in
                #expect(pthread_equal(pthread_self(), caller) == 0)
                replies.append(isSuccess, error)
            }
            #expect(await eventuallyInTask { !replies.all.isEmpty })
        }
        #expect(replies.all.count == 1)
        #expect(replies.all.first?.isSuccess == true && replies.all.first?.error == nil)
        let prompt = try #require(keychain.prompts.first)
        #expect(prompt.target == .policy(.owner) && prompt.prompt.reason == "Show the notes")
    }

    @Test(
        "Every reason of the keychain arrives with Apple's code and the keychain's words",
        arguments: AuthenticationFailure.allCases)
    func failures(_ failure: AuthenticationFailure) async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.person = .fails(failure) }
        await keychain.run {
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code.rawValue == Int(failure.rawValue))
            // A context that the service has lost is created again, once.
            #expect(keychain.prompts.count == (failure == .invalidContext ? 2 : 1))
            #expect(error?.localizedDescription.contains("the test says") == true)
            #expect((error as NSError?)?.localizedRecoverySuggestion == "a hint")
        }
    }

    @Test(
        "Each policy is evaluated as the keychain's",
        arguments: [
            (LAPolicy.deviceOwnerAuthentication, AuthenticationPolicy.owner),
            (.deviceOwnerAuthenticationWithBiometrics, .biometry),
            (.deviceOwnerAuthenticationWithBiometricsOrWatch, .biometry), (.latchkeySecurityKey, .securityKey),
        ])
    func policies(_ policy: LAPolicy, _ expected: AuthenticationPolicy) async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let isSuccess = try await LAContext().evaluatePolicy(policy, localizedReason: "a test")
            #expect(isSuccess)
            #expect(keychain.prompts.map(\.target) == [.policy(expected)])
        }
    }

    @Test("A companion is never available, and the person is not asked")
    func companion() async {
        let keychain = FakeKeychain()
        await keychain.run {
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthenticationWithWatch, localizedReason: "a test")
            }
            #expect(error?.code == .companionNotAvailable)
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test("An empty reason is refused with errSecParam, and the person is not asked")
    func emptyReason() async throws {
        let keychain = FakeKeychain()
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        await keychain.run {
            let context = LAContext()
            let first = await #expect(throws: NSError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "")
            }
            #expect(first?.domain == NSOSStatusErrorDomain && first?.code == Int(errSecParam))
            let second = await #expect(throws: NSError.self) {
                try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "")
            }
            #expect(second?.code == Int(errSecParam))
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test("A second evaluation in the same context asks no second time; another context asks")
    func reuseOfContext() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            for _ in 0..<3 {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(keychain.prompts.count == 1)
            #expect(keychain.snapshot.contexts.count == 1)
            try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            #expect(keychain.prompts.count == 2)
        }
    }

    @Test("Evaluations of one context that start together are asked one after the other")
    func parallel() async {
        let keychain = FakeKeychain()
        let replies = Replies()
        await keychain.run {
            let context = LAContext()
            for _ in 0..<8 {
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test") { replies.append($0, $1) }
            }
            #expect(await eventuallyInTask { replies.all.count == 8 })
        }
        #expect(replies.all.allSatisfy { $0.isSuccess })
        #expect(keychain.prompts.count == 1)
    }

    @Test("A reply may start the next evaluation")
    func chain() async {
        let keychain = FakeKeychain()
        let replies = Replies()
        await keychain.run {
            let context = LAContext()
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "first") { isSuccess, error in
                replies.append(isSuccess, error)
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "second") { replies.append($0, $1) }
            }
            #expect(await eventuallyInTask { replies.all.count == 2 })
        }
        #expect(replies.all.allSatisfy { $0.isSuccess })
    }

    @Test("An evaluation ends although the app has dropped the context")
    func dropped() async {
        let keychain = FakeKeychain()
        let replies = Replies()
        await keychain.run {
            LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test") { replies.append($0, $1) }
            #expect(await eventuallyInTask { !replies.all.isEmpty })
        }
        #expect(replies.all.map(\.isSuccess) == [true])
        // The context of the keychain ends with the object.
        #expect(await eventuallyInTask { keychain.snapshot.endedContexts.count == 1 })
    }

    @Test(
        "The reuse of a recognition has Apple's limits; the property keeps its set value",
        arguments: [
            (0.0, 0.0), (1.5, 1.5), (300, 300), (10_000, 300), (-1, 0), (.infinity, 300), (-.infinity, 0), (.nan, 0),
        ] as [(Double, Double)])
    func reuse(_ duration: Double, _ expected: Double) async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            #expect(context.touchIDAuthenticationAllowableReuseDuration == 0)
            context.touchIDAuthenticationAllowableReuseDuration = duration
            let kept = context.touchIDAuthenticationAllowableReuseDuration
            #expect(kept == duration || (kept.isNaN && duration.isNaN))
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            #expect(keychain.prompts.first?.prompt.reuse == expected)
        }
    }

    @Test(
        "The titles reach the prompt; an empty cancel title is the default, an empty fallback title hides the choice",
        arguments: [
            (nil, nil, nil, nil), ("Stop", "Passcode", "Stop", "Passcode"), ("", "", nil, ""),
        ] as [(String?, String?, String?, String?)])
    func titles(_ cancel: String?, _ fallback: String?, _ shownCancel: String?, _ shownFallback: String?) async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            context.localizedCancelTitle = cancel
            context.localizedFallbackTitle = fallback
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            let prompt = try #require(keychain.prompts.first).prompt
            #expect(prompt.cancelTitle == shownCancel && prompt.fallbackTitle == shownFallback)
        }
    }

    @Test(
        "With interactionNotAllowed, an evaluation fails with notInteractive, or with why it could not succeed at all")
    func silent() async {
        let keychain = FakeKeychain()
        await keychain.run {
            let context = LAContext()
            context.interactionNotAllowed = true
            var error = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code == .notInteractive)
            keychain.change { $0.status.hasPasscode = false }
            error = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code == .passcodeNotSet)
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test("A property has Apple's initial value, and keeps a new value")
    func properties() {
        let context = LAContext()
        #expect(context.localizedReason == "" && !context.interactionNotAllowed)
        #expect(context.localizedCancelTitle == nil && context.localizedFallbackTitle == nil)
        context.localizedReason = "reason"
        context.interactionNotAllowed = true
        context.localizedCancelTitle = "cancel"
        context.localizedFallbackTitle = "fallback"
        #expect(context.localizedReason == "reason" && context.interactionNotAllowed)
        #expect(context.localizedCancelTitle == "cancel" && context.localizedFallbackTitle == "fallback")
    }
}
