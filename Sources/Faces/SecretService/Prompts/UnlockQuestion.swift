// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import Logging
internal import SecretMemory

/// Asks for the passcode until a collection is unlocked. It blocks its thread.
struct UnlockQuestion: Sendable {
    let store: any SecretStore
    let askers: [SecretAsker]
    let log: Logger
    let collection: CollectionName
    let program: CallerIdentity
    let window: String

    /// - Returns: whether the collection is unlocked.
    func ask(_ cancellation: Cancellation) -> Bool {
        do throws(SecretStoreError) {
            var label = try store.collection(collection).label
            if label.isEmpty { label = collection.text }
            for left in (1...Self.maxAttempts).reversed() {
                guard try store.collection(collection).isLocked else { return true }
                let question = SecretQuestion(
                    .passcode, label: label, program: program, window: window,
                    attemptsLeft: left == Self.maxAttempts ? nil : left)
                guard let passcode = typed(askers.ask(question, cancellation: cancellation)) else { return false }
                if try unlock(passcode) { return true }
            }
        } catch {
            log.warning("the collection cannot be unlocked", metadata: ["reason": "\(error)"])
        }
        return false
    }

    /// Changes the passcode: asks for the present one, if there is one, and for a new one.
    func change(_ cancellation: Cancellation) -> Bool {
        do throws(SecretStoreError) {
            guard ask(cancellation) else { return false }
            let label = try store.collection(collection).label
            var question = SecretQuestion(.passcode, label: label, program: program, window: window)
            guard let old = typed(askers.ask(question, cancellation: cancellation)) else { return false }
            question.kind = .newPasscode
            guard let new = typed(askers.ask(question, cancellation: cancellation)) else { return false }
            try store.changePasscode(of: collection, from: old, to: new)
            return true
        } catch {
            log.warning("the passcode cannot be changed", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// - Returns: false if the passcode is wrong.
    private func unlock(_ passcode: SharedSecret) throws(SecretStoreError) -> Bool {
        do throws(SecretStoreError) {
            try store.unlock(collection, with: passcode)
            return true
        } catch .wrongPasscode(let problem) {
            log.notice("a passcode was not accepted", metadata: ["reason": "\(problem)"])
            return false
        } catch {
            throw error
        }
    }

    private func typed(_ answer: SecretAnswer) -> SharedSecret? {
        switch answer {
        case .typed(let secret): return secret
        case .cancelled, .allowed: return nil
        case .timedOut: log.notice("a prompt was not answered in time")
        case .unavailable(let reason, let hint):
            log.warning(
                "a prompt is dismissed, because the person cannot be asked",
                metadata: ["reason": "\(reason)", "hint": "\(hint)"])
        }
        return nil
    }

    private static let maxAttempts = 3
}
