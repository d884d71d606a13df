// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// How the caller's dictionary wants access controls to be satisfied (keychain-behaviour §3.9).
struct AuthenticationRequest {
    /// The interaction if an access control is not satisfied.
    let interaction: Authentication.Interaction
    /// The reason for the prompt; nil if the dictionary has none.
    let reason: String?
    /// The object in kSecUseAuthenticationContext, of any type; nil for none.
    let context: Any?
}

extension ItemDictionary {
    /// Parses the `kSecUse…` keys about authentication.
    ///
    /// kSecUseNoAuthenticationUI is the older form of kSecUseAuthenticationUIFail. If the two keys
    /// differ, the call does not ask.
    ///
    /// - Parameter allowsSkip: whether the call is a search. A search can leave out items.
    func authentication(allowsSkip: Bool) throws(KeychainError) -> AuthenticationRequest {
        if use[Key.authenticationContext] != nil, use[Key.credentialReference] != nil {
            throw .parameter("kSecUseAuthenticationContext and a credential reference exclude each other")
        }
        let isSilent = try flag(Key.noAuthenticationUI)
        let chosen = try interaction(allowsSkip: allowsSkip)
        var reason: String?
        if let value = use[Key.operationPrompt] {
            guard let text = value as? String else { throw .parameter("kSecUseOperationPrompt must be a string") }
            reason = text
        }
        return AuthenticationRequest(
            interaction: isSilent && chosen == .allow ? .fail : chosen, reason: reason,
            context: use[Key.authenticationContext])
    }

    private func interaction(allowsSkip: Bool) throws(KeychainError) -> Authentication.Interaction {
        guard let choice = use[Key.authenticationUI] else { return .allow }
        switch choice as? String {
        case "u_AuthUIA": return .allow
        case "u_AuthUIF": return .fail
        case "u_AuthUIS" where allowsSkip: return .skip
        default: throw .parameter("unsupported value of kSecUseAuthenticationUI for this call")
        }
    }
}
