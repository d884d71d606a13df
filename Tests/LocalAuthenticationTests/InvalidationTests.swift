// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LocalAuthentication
import Testing

@Suite("Invalidation of LAContext")
struct InvalidationTests {
    @Test("An invalidation during a prompt ends the prompt; the evaluation and those behind it fail with appCancel")
    func duringPrompt() async {
        let keychain = FakeKeychain()
        keychain.change { $0.person = .waits }
        let replies = Replies()
        await keychain.run {
            let context = LAContext()
            for _ in 0..<3 {
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test") { replies.append($0, $1) }
            }
            #expect(await eventuallyInTask { keychain.prompts.count == 1 })
            context.invalidate()
            #expect(await eventuallyInTask { replies.all.count == 3 })
            #expect(await eventuallyInTask { keychain.snapshot.waiters.isEmpty })
            // The thread of the evaluations has had the chance to reply again.
            await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
        }
        #expect(replies.all.count == 3)
        #expect(replies.all.allSatisfy { !$0.isSuccess && ($0.error as? LAError)?.code == .appCancel })
        #expect(keychain.prompts.count == 1)
        #expect(keychain.snapshot.endedContexts.count == 1)
    }

    @Test("After an invalidation every use fails with invalidContext, and nothing is asked")
    func afterwards() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            context.invalidate()
            context.invalidate()
            let error = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code == .invalidContext)
            var problem: NSError?
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &problem))
            #expect((problem as? LAError)?.code == .invalidContext)
            #expect(!context.setCredential(Data("password".utf8), type: .applicationPassword))
            #expect(!context.isCredentialSet(.applicationPassword))
            let failure = #expect(throws: KeychainError.self) { try context.authentication() }
            #expect(failure?.authentication == .failed(.invalidContext))
            #expect(keychain.prompts.count == 1)
            #expect(keychain.snapshot.contexts.isEmpty)
        }
    }

    @Test("A prompt that does not end delays no reply, neither of its own evaluation nor of a later one")
    func stuckPrompt() async {
        let keychain = FakeKeychain()
        let gate = DispatchGate()
        keychain.change { $0.person = .ignores(until: gate) }
        let replies = Replies()
        await keychain.run {
            let context = LAContext()
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test") { replies.append($0, $1) }
            #expect(await eventuallyInTask { keychain.prompts.count == 1 })
            context.invalidate()
            #expect(await eventuallyInTask { replies.all.count == 1 })
            let error = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            }
            #expect(error?.code == .invalidContext)
            gate.open()
        }
        #expect(replies.all.map { ($0.error as? LAError)?.code } == [.appCancel])
    }

    @Test("After an invalidation also a call without authentication fails")
    func withoutAuthentication() async throws {
        let control = try AccessControlTests.control([])
        let context = LAContext()
        context.invalidate()
        let error = await #expect(throws: LAError.self) {
            try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "a test")
        }
        #expect(error?.code == .invalidContext)
    }

    @Test("A context that was never used ends without the keychain")
    func unused() async {
        let keychain = FakeKeychain()
        await keychain.run {
            LAContext().invalidate()
            #expect(keychain.snapshot.lastContext == 0)
        }
    }

    @Test("An invalidation by the reply of an evaluation does not wait for itself")
    func byReply() async {
        let keychain = FakeKeychain()
        let replies = Replies()
        await keychain.run {
            let context = LAContext()
            let isWaiting = DispatchGate()
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "first") { isSuccess, error in
                isWaiting.wait()
                context.invalidate()
                replies.append(isSuccess, error)
            }
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "second") { replies.append($0, $1) }
            isWaiting.open()
            #expect(await eventuallyInTask { replies.all.count == 2 })
        }
        #expect(replies.all.contains { $0.isSuccess })
        #expect(replies.all.contains { ($0.error as? LAError)?.code == .appCancel })
    }
}
