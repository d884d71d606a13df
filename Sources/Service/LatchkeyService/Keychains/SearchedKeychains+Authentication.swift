// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

extension SearchedKeychains {
    /// A context is one in every keychain; what is proven in one of them counts there.
    public func createContext(from caller: CallerIdentity) throws(KeychainError) -> AuthenticationContextID {
        let context = try primary.createContext(from: caller)
        try adoptContext(context, from: caller)
        return context
    }

    public func adoptContext(
        _ context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        // Contexts of keychains in another process are known there alone.
        for case let keychain as any HostedKeychain in all { try keychain.adoptContext(context, from: caller) }
    }

    public func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) {
        try asking(target) { (keychain) throws(KeychainError) in
            try keychain.authenticate(for: target, in: context, prompt: prompt, from: caller)
        }
    }

    public func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity, host: any EvaluationHost
    ) throws(KeychainError) {
        try asking(target) { (keychain) throws(KeychainError) in
            try hosted(keychain).authenticate(for: target, in: context, prompt: prompt, from: caller, host: host)
        }
    }

    /// Calls `body` with the keychain that has the item of a target; for other targets, with the
    /// default keychain.
    private func asking(
        _ target: AuthenticationTarget, _ body: (any KeychainService) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        if case .item = target { try first(body) } else { try body(try primary) }
    }

    public func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        for keychain in all { try keychain.setApplicationPassword(password, in: context, from: caller) }
    }

    public func hasApplicationPassword(
        in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) -> Bool {
        for keychain in all where try keychain.hasApplicationPassword(in: context, from: caller) { return true }
        return false
    }

    public func endContext(_ context: AuthenticationContextID, from caller: CallerIdentity) {
        for keychain in all { keychain.endContext(context, from: caller) }
    }

    public func endContexts(of process: CallerIdentity.ProcessIdentity) {
        for case let keychain as any HostedKeychain in all { keychain.endContexts(of: process) }
    }

    public func presenceStatus(
        at place: PromptPlace, from caller: CallerIdentity
    ) throws(KeychainError) -> PresenceStatus {
        try primary.presenceStatus(at: place, from: caller)
    }

    public func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) -> SecurityKeyInfo {
        try primary.enrollSecurityKey(enrollment, passcode: passcode, prompt: prompt, from: caller)
    }

    public func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity, host: any EvaluationHost
    ) throws(KeychainError) -> SecurityKeyInfo {
        try hosted(primary).enrollSecurityKey(
            enrollment, passcode: passcode, prompt: prompt, from: caller, host: host)
    }

    public func securityKeys() throws(KeychainError) -> [SecurityKeyInfo] { try primary.securityKeys() }

    public func removeSecurityKey(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool, dryRun: Bool
    ) throws(KeychainError) -> Int {
        try primary.removeSecurityKey(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun)
    }
}
