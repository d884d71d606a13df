// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import Logging

/// Asks whether a program may read items. It blocks its thread.
struct ConsentQuestion: Sendable {
    let store: any SecretStore
    let consent: ReadingConsent
    let askers: [SecretAsker]
    let log: Logger
    /// The items that the program has asked for; those that need no question are left out.
    let items: [ItemReference]
    let reader: SecretReader
    let window: String

    /// - Returns: whether the program may read all of the items.
    func ask(_ cancellation: Cancellation) -> Bool {
        do throws(SecretStoreError) {
            let (items, label) = try needed()
            guard let label else { return true }
            // A client that asks in a loop is refused without a question.
            guard !consent.isRefused(items, by: reader) else { return false }
            let subject = ConsentSubject(count: items.count, canBeKept: consent.canKeep(items, for: reader))
            let question = SecretQuestion(
                .consent(subject), label: label, program: reader.program, window: window)
            return take(askers.ask(question, cancellation: cancellation), items, cancellation)
        } catch {
            log.warning("a program cannot be asked about", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// The items that need an answer, and the label of the first of them; nil if there is none.
    private func needed() throws(SecretStoreError) -> ([ItemReference], label: String?) {
        var needed: [ItemReference] = []
        var label: String?
        for reference in items {
            do throws(SecretStoreError) {
                let item = try store.item(reference)
                // A locked one stays so, and is no longer part of the question.
                guard !item.isLocked, try consent.isNeeded(for: item, by: reader) else { continue }
                needed.append(reference)
                label = label ?? item.label
            } catch .notFound {
                continue
            } catch {
                throw error
            }
        }
        return (needed, label: label)
    }

    private func take(_ answer: SecretAnswer, _ items: [ItemReference], _ cancellation: Cancellation) -> Bool {
        // The program has ended the question, and perhaps its connection: that is no answer.
        guard !cancellation.isCancelled else { return false }
        switch answer {
        case .allowed(isKept: true):
            keep(items)
            return true
        case .allowed(isKept: false):
            consent.allow(items, to: reader)
            return true
        case .cancelled, .typed: consent.refuse(items, to: reader)
        case .timedOut: log.notice("a prompt was not answered in time")
        case .unavailable(let reason, _):
            log.warning(
                "a program may not read items, because the person cannot be asked",
                metadata: [
                    "program": "\(reader.program.executable)", "reason": "\(reason)",
                    "hint": "latchkey consent allow \(reader.path?.text ?? "PROGRAM")",
                ])
        }
        return false
    }

    /// The answer holds for this connection also where it cannot be stored.
    private func keep(_ items: [ItemReference]) {
        do throws(SecretStoreError) {
            try consent.keep(items, for: reader)
        } catch {
            log.warning("an answer is not kept", metadata: ["reason": "\(error)"])
            consent.allow(items, to: reader)
        }
    }
}
