// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import LatchkeyOperations
import LatchkeyService
import SecretMemory

extension RequestInput {
    /// A context that a response contained, and the process that it belongs to.
    struct Context {
        let handle: AuthenticationContextID
        let owner: CallerIdentity.ProcessIdentity?
        var hasEnded = false
    }

    static let processes: [CallerIdentity.ProcessIdentity?] = [
        nil, CallerIdentity.ProcessIdentity(user: 1, process: 10), CallerIdentity.ProcessIdentity(user: 1, process: 11),
        CallerIdentity.ProcessIdentity(user: 2, process: 10),
    ]

    /// The operations on contexts, prompts and security keys.
    func authenticate(_ operation: UInt8) {
        switch operation {
        case 24: createContext()
        case 25, 26: authenticate()
        case 27: setApplicationPassword()
        case 28: endContexts()
        case 29: findWithPrompts()
        case 30: enrollSecurityKey()
        default: changeSecurityKeys()
        }
    }

    /// How a call is authenticated: by nothing, until there are contexts.
    func authentication() -> Authentication {
        guard !contexts.isEmpty, choices.flag() else { return Authentication() }
        let interaction = choices.one(of: [Authentication.Interaction.allow, .fail, .skip])
        return Authentication(interaction, context: handle(), reason: choices.text())
    }

    // MARK: Contexts

    private func caller() -> CallerIdentity {
        var caller = choices.one(of: Self.callers)
        caller.process = choices.one(of: Self.processes)
        return caller
    }

    private func createContext() {
        let caller = caller()
        guard let handle = ask({ () throws(KeychainError) in try service.contexts.create(from: caller) }) else {
            return
        }
        contexts.append(Context(handle: handle, owner: caller.process))
    }

    /// A context that exists, that ended, or that never existed.
    private func handle() -> AuthenticationContextID? {
        if choices.byte() % 8 > 0, !contexts.isEmpty { return choices.one(of: contexts).handle }
        return AuthenticationContextID(bytes: choices.data())
    }

    private func authenticate() {
        guard let handle = handle() else { return }
        let (caller, target) = (caller(), target())
        let prompt = AuthenticationPrompt(
            reason: choices.text(), reuse: choices.date(), place: choices.byte() % 8 == 0 ? .none : Self.place)
        scriptPerson()
        let isDone: Void? = ask { () throws(KeychainError) in
            try service.contexts.authenticate(for: target, in: handle, prompt: prompt, from: caller)
        }
        guard isDone != nil else { return }
        evaluations += 1
        requireUsable(handle, by: caller)
    }

    private func target() -> AuthenticationTarget {
        switch choices.byte() % 4 {
        case 0 where !references.isEmpty: .item(choices.one(of: references))
        case 0, 1: .newItem(label: choices.text(), flags())
        case 2: .accessControl(flags())
        default: .policy(choices.one(of: AuthenticationPolicy.allCases))
        }
    }

    /// Flags that mean something, in half of the cases.
    func flags() -> AccessControlFlags {
        guard choices.flag() else { return AccessControlFlags(rawValue: UInt64(bitPattern: choices.number())) }
        var flags: AccessControlFlags = []
        for _ in 0...(choices.byte() & 3) {
            flags.insert(
                choices.one(of: [
                    .userPresence, .devicePasscode, .applicationPassword, .biometryAny, .biometryCurrentSet, .or, .and,
                    .latchkeySecurityKey, .privateKeyUsage,
                ]))
        }
        return flags
    }

    private func setApplicationPassword() {
        guard let handle = handle() else { return }
        let (caller, password) = (caller(), choices.optional { SharedSecret(copying: $0.data()) })
        let isDone: Void? = ask { () throws(KeychainError) in
            try service.contexts.setApplicationPassword(password, in: handle, from: caller)
        }
        if isDone != nil { requireUsable(handle, by: caller) }
    }

    private func endContexts() {
        let caller = caller()
        if choices.byte() % 4 == 0 {
            guard let process = caller.process else { return }
            service.contexts.endAll(of: process)
            for index in contexts.indices where contexts[index].owner == process { contexts[index].hasEnded = true }
        } else if let handle = handle() {
            service.contexts.end(handle, from: caller)
            for index in contexts.indices where contexts[index].handle == handle {
                if contexts[index].owner == caller.process { contexts[index].hasEnded = true }
            }
        }
    }

    /// Notes a fault if the context does not belong to the caller.
    private func requireUsable(_ handle: AuthenticationContextID, by caller: CallerIdentity) {
        let known = contexts.first { $0.handle == handle }
        guard let known, !known.hasEnded, known.owner == caller.process else {
            return fault = "a context of another process, or one that has ended, was used"
        }
    }

    // MARK: The person

    static let place = PromptPlace([.terminal: "/dev/pts/1"])

    private func scriptPerson() { person.set((0..<choices.byte() % 24).map { _ in choices.byte() }) }

    /// A search that repeats after prompts, as a program's does.
    private func findWithPrompts() {
        let query = query()
        let session = KeychainSession(service, as: caller()) { Self.place }
        scriptPerson()
        _ = ask { () throws(KeychainError) in try session.copyMatching(query, returning: .data) }
    }

    // MARK: Security keys

    private func enrollSecurityKey() {
        let request = SecurityKeyRequest(name: choices.text(), satisfiesUserPresence: choices.flag())
        let (passcode, caller) = (choices.one(of: Self.passcodes), caller())
        scriptPerson()
        _ = ask { () throws(KeychainError) in
            try service.securityKeys.enroll(
                request, passcode: passcode, prompt: AuthenticationPrompt(place: Self.place), from: caller)
        }
    }

    private func changeSecurityKeys() {
        let caller = caller()
        scriptPerson()
        _ = ask { () throws(KeychainError) in try service.contexts.presenceStatus(at: Self.place, from: caller) }
        let keys = ask { () throws(KeychainError) in try service.securityKeys.all() } ?? []
        guard keys.count <= SecurityKeyInfo.maxCount else { return fault = "there are \(keys.count) security keys" }
        guard choices.flag(), let unknown = SecurityKeyIdentifier(bytes: [UInt8](repeating: 1, count: 32)) else {
            return
        }
        let key = choices.one(of: keys.map(\.identifier) + [unknown])
        let passcode = choices.optional { $0.one(of: Self.passcodes) }
        let (deletesItems, dryRun) = (choices.flag(), choices.flag())
        _ = ask { () throws(KeychainError) in
            try service.securityKeys.remove(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun)
        }
    }
}
