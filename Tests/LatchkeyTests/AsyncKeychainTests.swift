// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeychainTesting
import Latchkey
import LatchkeyClient
import LatchkeyService
import Synchronization
import Testing

@Suite("Calls from tasks")
struct AsyncKeychainTests {
    private let alice = GenericPassword(service: "example.com", account: "alice")

    private struct Credentials: Codable, Hashable { var token: String }

    @Test("An asynchronous function can make every call with await, and the synchronous calls without")
    func both() async throws {
        let keychain = try Keychain.ephemeral()
        try await keychain.async.set(alice, to: "one")
        try keychain.set(alice, to: "two")
        #expect(try await keychain.async.string(for: alice) == "two")
        #expect(try keychain.string(for: alice) == "two")
        #expect(try await keychain.async.data(for: alice) == Data("two".utf8))
        let secret = try await keychain.async.secret(for: alice)
        #expect(secret.count == 3)
        try await keychain.async.set(alice, toValue: Credentials(token: "t"))
        #expect(try await keychain.async.value(Credentials.self, for: alice) == Credentials(token: "t"))
        #expect(try await keychain.async.items(GenericPassword.self).count == 1)
        let bob = GenericPassword(service: "example.com", account: "bob")
        try await keychain.async.add(bob, secret: "s3cret")
        #expect(try await keychain.async.contains(bob))
        try await keychain.async.delete(bob)
        try await keychain.async.add(bob, value: Credentials(token: "u"))
        #expect(try await keychain.async.findings().isEmpty)
        let error = await #expect(throws: KeychainError.self) { try await keychain.async.add(bob, secret: "again") }
        #expect(error?.status == .duplicateItem && error?.item?.contains("bob") == true)
    }

    @Test("The lock and the passcode are changed and reported from tasks", .long)
    func lock() async throws {
        let keychain = try Keychain.ephemeral()
        try await keychain.async.setPasscode("correct horse battery")
        #expect(try await keychain.async.lockStatus.hasPasscode)
        var states = try await keychain.async.lockStates().makeAsyncIterator()
        #expect(await states.next() == .unlocked)
        try await keychain.async.lock(immediately: true)
        #expect(await states.next() == .locked)
        #expect(try await keychain.async.lockState == .locked)
        try await keychain.async.unlock(passcode: "correct horse battery")
        try await keychain.async.changePasscode(from: "correct horse battery", to: "another passcode")
        #expect(try await keychain.async.removePasscode("another passcode") == 0)
    }

    @Test("Keys are generated, found, used and deleted from tasks")
    func keys() async throws {
        let keychain = try Keychain.ephemeral()
        let message = Data("message".utf8)
        let signing = try await keychain.async.generate(P256SigningKey.self, tag: "sign")
        let found = try await keychain.async.key(P256SigningKey.self, tag: "sign")
        let signature = try await found.async.signature(for: message)
        #expect(try signing.publicKey.isValidSignature(signature, for: message))
        let raw = try await found.async.rawSignature(for: message)
        #expect(try signing.publicKey.isValidRawSignature(raw, for: message))
        let (one, other) = (
            try await keychain.async.generate(P256AgreementKey.self, tag: "agree"), try P256AgreementKey()
        )
        let shared = try await one.async.sharedKey(with: other.publicKey, count: 32)
        #expect(shared == (try other.sharedKey(with: one.publicKey, count: 32)))
        let plaintext = try await one.async.decrypt(try one.publicKey.encrypt("s3cret"))
        #expect(plaintext == SharedSecret(copying: "s3cret".utf8))
        let rsa = try RSAPrivateKey(bits: 2048)
        try await keychain.async.add(rsa, tag: "rsa")
        let stored = try await keychain.async.key(RSAPrivateKey.self, tag: "rsa")
        let rsaSignature = try await stored.async.signature(for: message, .pkcs1(.sha256))
        #expect(try rsa.publicKey.isValidSignature(rsaSignature, for: message, .pkcs1(.sha256)))
        let decrypted = try await stored.async.decrypt(try rsa.publicKey.encrypt("s3cret"))
        #expect(decrypted == plaintext)
        #expect(try await stored.async.pem().count > 1000)
        #expect(try await stored.async.externalRepresentation() == rsa.externalRepresentation())
        try await keychain.async.deleteKey(tag: "rsa")
        let error = await #expect(throws: KeychainError.self) {
            try await keychain.async.key(RSAPrivateKey.self, tag: "rsa")
        }
        #expect(error?.status == .itemNotFound)
    }

    @Test("Several calls run as one, with the identity and the log of the task")
    func perform() async throws {
        let keychain = try Keychain.ephemeral()
        let item = alice
        let log = Mutex<[String]>([])
        let text = try await ProgramLog.$current.withValue(ProgramLog { text in log.withLock { $0.append(text) } }) {
            try await keychain.perform { keychain throws(KeychainError) in
                try keychain.set(item, to: "s3cret")
                _ = try RSAPrivateKey(bits: 1024)
                return try keychain.string(for: item)
            }
        }
        #expect(text == "s3cret")
        #expect(log.withLock { $0.count } == 1)
    }

    @Test(
        "While as many calls as possible are blocked, other tasks run, and a task that is cancelled makes no call"
    )
    func blocked() async throws {
        let keychain = try Keychain.ephemeral()
        let item = alice
        let started = EventCount()
        let gate = DispatchSemaphore(value: 0)
        // More tasks than the concurrency of Swift has threads, and as many as there are threads for
        // blocking calls.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<BlockingCallPool.maxThreads {
                group.addTask {
                    try await keychain.perform { _ in
                        started.increase()
                        gate.awaitSignal()
                    }
                }
            }
            let hasStarted = await eventuallyInTask { started.value == BlockingCallPool.maxThreads }
            #expect(hasStarted)
            let cancelled = Task { try await keychain.async.set(item, to: "s3cret") }
            cancelled.cancel()
            for _ in 0..<BlockingCallPool.maxThreads { gate.signal() }
            let error = await #expect(throws: KeychainError.self) { try await cancelled.value }
            #expect(error?.status == .userCanceled)
            try await group.waitForAll()
        }
        #expect(try !keychain.contains(item))
    }

    @Test("A call that has started completes although its task is cancelled")
    func cancelledLate() async throws {
        let keychain = try Keychain.ephemeral()
        let item = alice
        let started = EventCount()
        let gate = DispatchSemaphore(value: 0)
        let task = Task {
            try await keychain.perform { keychain throws(KeychainError) in
                started.increase()
                gate.awaitSignal()
                try keychain.set(item, to: "s3cret")
            }
        }
        #expect(await eventuallyInTask { started.value == 1 })
        task.cancel()
        gate.signal()
        try await task.value
        #expect(try keychain.string(for: item) == "s3cret")
    }
}
