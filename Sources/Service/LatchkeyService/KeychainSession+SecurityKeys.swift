// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The security keys of the keychain; see ``KeychainSecurityKeys``.
extension KeychainSession {
    /// Enrolls the connected security key that is not enrolled yet. The place of the prompts is that
    /// of this process, unless the prompt names one.
    public func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt = AuthenticationPrompt()
    ) throws(KeychainError) -> SecurityKeyInfo {
        var prompt = prompt
        if prompt.place == .none { prompt.place = place() }
        return try service.enrollSecurityKey(enrollment, passcode: passcode, prompt: prompt, from: caller)
    }

    public func securityKeys() throws(KeychainError) -> [SecurityKeyInfo] { try service.securityKeys() }

    public func removeSecurityKey(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool = false, dryRun: Bool = false
    ) throws(KeychainError) -> Int {
        try service.removeSecurityKey(key, passcode: passcode, deletesItems: deletesItems, dryRun: dryRun)
    }
}
