// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
internal import Presence
public import SecretMemory

/// The security keys that are enrolled in a keychain.
public struct KeychainSecurityKeys: Sendable {
    let keychain: OpenKeychain
    let recognitions: RecentRecognitions

    public func enroll(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity, host: any EvaluationHost = LocalEvaluationHost()
    ) throws(KeychainError) -> SecurityKeyInfo {
        try requireEnrollable(enrollment)
        let proven = ProvenContext(keychain.store)
        defer { proven.end() }
        let keys = proven.keys
        // A wrong passcode ends this before a person is asked to touch anything.
        try host.derive { [store = keychain.store] () throws(KeychainError) in
            let passcode = try Passcode.of(passcode)
            try withErrors(as: KeychainError.init) { () throws(StoreError) in try store.satisfy(keys, with: passcode) }
        }
        let evaluation = PresenceEvaluation(
            store: keychain.store, sources: keychain.presence, context: proven, user: keychain.user, caller: caller,
            subject: .keychain,
            prompt: prompt, host: host, recognitions: recognitions)
        _ = try evaluation.touchSecurityKeyIfConnected(ownerOnly: false)
        let (created, secret) = try evaluation.enrollSecurityKey()
        let record = try Self.record(of: enrollment, created.credential, created.alwaysVerifies, keychain.now())
        try host.derive { [store = keychain.store] () throws(KeychainError) in
            let passcode = try Passcode.of(passcode)
            try withErrors(as: KeychainError.init) { () throws(StoreError) in
                try store.securityKeys.enroll(
                    record, secret: secret, satisfiesUserPresence: enrollment.satisfiesUserPresence,
                    passcode: passcode, evaluation: keys)
            }
        }
        return SecurityKeyInfo(record, satisfiesUserPresence: enrollment.satisfiesUserPresence)
    }

    public func all() throws(KeychainError) -> [SecurityKeyInfo] {
        let keys = try keychain.run { () throws(StoreError) in try keychain.store.securityKeys.all() }
        return keys.map { SecurityKeyInfo($0.enrollment, satisfiesUserPresence: $0.satisfiesUserPresence) }
    }

    public func remove(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool, dryRun: Bool
    ) throws(KeychainError) -> Int {
        guard try all().contains(where: { $0.identifier == key }) else {
            throw KeychainError(
                .itemNotFound, "no such security key is enrolled", hint: "latchkey security-key list")
        }
        let passcode = try Passcode.of(passcode)
        return try keychain.run { () throws(StoreError) in
            guard !dryRun else { return try keychain.store.securityKeys.itemsRequiring(key) }
            return try keychain.store.securityKeys.remove(key, passcode: passcode, deletesItems: deletesItems)
        }
    }

    // MARK: Checks

    /// Refuses an enrollment that could not be stored, before a person is asked.
    private func requireEnrollable(_ enrollment: SecurityKeyRequest) throws(KeychainError) {
        _ = try Self.record(of: enrollment, [0], false, keychain.now())
        let keybag = try keychain.run { () throws(StoreError) in try keychain.store.refresh() }
        guard keybag.hasPasscode else { throw KeychainError(KeybagError.noPasscode) }
        guard !keybag.securityKeys.contains(where: { $0.enrollment.name == enrollment.name }) else {
            throw KeychainError(
                .duplicateItem, "a security key of this name is enrolled already",
                hint: "choose another name; latchkey security-key list shows the names")
        }
        guard keybag.securityKeys.count < SecurityKeyInfo.maxCount else {
            throw KeychainError(KeybagError.tooManySecurityKeys(max: SecurityKeyInfo.maxCount))
        }
    }

    private static func record(
        of enrollment: SecurityKeyRequest, _ credential: [UInt8], _ alwaysVerifies: Bool, _ now: Double
    ) throws(KeychainError) -> SecurityKeyEnrollment {
        do throws(KeybagError) {
            return try SecurityKeyEnrollment(
                credential: credential, alwaysVerifies: alwaysVerifies, name: enrollment.name, created: now)
        } catch {
            throw KeychainError(error)
        }
    }
}

extension SecurityKeyInfo {
    fileprivate init(_ enrollment: SecurityKeyEnrollment, satisfiesUserPresence: Bool) {
        self.init(
            identifier: enrollment.identifier, name: enrollment.name, created: enrollment.created,
            satisfiesUserPresence: satisfiesUserPresence)
    }
}
