// SPDX-License-Identifier: Apache-2.0

import AccountKit
import Foundation
import LocalAuthentication
import Security
import Testing

/// Whether this process has a keychain of its own, in memory. It must be read before the first call
/// of the keychain.
private let hasOwnKeychain = setenv("LATCHKEY_EPHEMERAL", "1", 1) == 0

/// A context that displays nothing.
private final class ContextDouble: LAContext, @unchecked Sendable {
    var problems: [LAPolicy: LAError.Code] = [:]
    var failure: LAError?
    private(set) var evaluated: [LAPolicy] = []

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        guard let problem = problems[policy] else { return true }
        error?.pointee = NSError(domain: LAErrorDomain, code: problem.rawValue)
        return false
    }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluated.append(policy)
        reply(failure == nil, failure)
    }
}

@Suite("The app's account")
struct AccountKitTests {
    init() throws {
        try #require(hasOwnKeychain)
    }

    @Test("A token is stored, replaced, listed and removed")
    func store() throws {
        let store = KeychainStore(service: UUID().uuidString)
        #expect(try store.accounts() == [])
        try store.save("one", for: "bob")
        try store.save("two", for: "alice")
        try store.save("three", for: "bob")
        #expect(try store.token(for: "bob") == "three")
        #expect(try store.accounts() == ["alice", "bob"])
        try store.removeToken(for: "bob")
        try store.removeToken(for: "bob")
        #expect(try store.token(for: "bob") == nil)
        #expect(try store.accounts() == ["alice"])
    }

    @Test("The same key signs again, and another key's signature is refused")
    func signer() throws {
        let (signer, other) = (RequestSigner(tag: UUID().uuidString), RequestSigner(tag: UUID().uuidString))
        let request = Data("GET /account".utf8)
        let key = try signer.publicKey()
        #expect(key.count == 65)
        #expect(try signer.publicKey() == key)
        #expect(RequestSigner.isValid(try signer.signature(of: request), of: request, by: key))
        #expect(!RequestSigner.isValid(try other.signature(of: request), of: request, by: key))
        #expect(!RequestSigner.isValid(try signer.signature(of: request), of: Data("GET /".utf8), by: key))
    }

    private func outcome(_ context: ContextDouble) async -> BiometricGate.Outcome {
        await withCheckedContinuation { continuation in
            BiometricGate { context }.open(reason: "Show the token") { continuation.resume(returning: $0) }
        }
    }

    @Test("Biometry opens the gate; without a sensor it is the passcode")
    func gate() async {
        let sensor = ContextDouble()
        #expect(await outcome(sensor) == .opened)
        #expect(sensor.evaluated == [.deviceOwnerAuthenticationWithBiometrics])
        let none = ContextDouble()
        none.problems = [.deviceOwnerAuthenticationWithBiometrics: .biometryNotAvailable]
        #expect(await outcome(none) == .opened)
        #expect(none.evaluated == [.deviceOwnerAuthentication])
    }

    @Test("A cancelled prompt is no refusal, and a gate that cannot ask says so")
    func failures() async {
        let context = ContextDouble()
        context.failure = LAError(.userCancel)
        #expect(await outcome(context) == .cancelled)
        context.failure = LAError(.biometryLockout)
        guard case .refused = await outcome(context) else {
            Issue.record("expected a refusal")
            return
        }
        context.problems = [
            .deviceOwnerAuthenticationWithBiometrics: .biometryNotAvailable,
            .deviceOwnerAuthentication: .passcodeNotSet,
        ]
        guard case .unavailable = await outcome(context) else {
            Issue.record("expected a gate that cannot ask")
            return
        }
    }
}
