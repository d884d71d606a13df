// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient

/// The subject of one evaluation of an `LAContext`.
enum EvaluationRequest: Sendable {
    case policy(LAPolicy)
    case accessControl(AccessControlFlags, LAAccessControlOperation)

    /// Whether the person may have been recognized by biometry.
    var concernsBiometry: Bool {
        switch self {
        case .policy(let policy): policy.isBiometric || policy == .deviceOwnerAuthentication
        case .accessControl: false
        }
    }

    /// Asks the person for the missing authentication. It blocks as long as the prompt is displayed.
    func perform(in context: AuthenticationContext, _ settings: ContextSettings, reason: String) throws {
        let prompt = try settings.prompt(reason: reason)
        guard let target = try target(in: context) else { return }
        guard !settings.interactionNotAllowed || !needsPerson(in: context) else {
            throw try problem(in: context)
                ?? LAError(.notInteractive, "the context does not allow interaction (interactionNotAllowed is set)")
        }
        try context.authenticate(for: target, prompt: prompt)
    }

    /// Returns the target that the keychain must authenticate for; nil if nothing is required.
    ///
    /// - Throws: the error of a policy that is not supported.
    private func target(in context: AuthenticationContext) throws -> AuthenticationTarget? {
        switch self {
        case .policy(let policy):
            if let authentication = policy.authentication { return .policy(authentication) }
            throw try problem(in: context) ?? LAError(.companionNotAvailable)
        case .accessControl(let flags, let operation) where operation.isCreation:
            return flags.contains(.applicationPassword) ? .newItem(label: "", flags) : nil
        case .accessControl(let flags, _):
            return flags.hasConstraints ? .accessControl(flags) : nil
        }
    }

    /// Whether a prompt can be necessary, as far as this process knows: an application password that
    /// the program has set needs none.
    private func needsPerson(in context: AuthenticationContext) -> Bool {
        guard case .accessControl(let flags, let operation) = self else { return true }
        let others = flags.subtracting(.applicationPassword)
        return !context.hasApplicationPassword || (others.hasConstraints && !operation.isCreation)
    }

    /// Returns why the policy cannot be evaluated at all.
    private func problem(in context: AuthenticationContext) throws -> LAError? {
        guard case .policy(let policy) = self else { return nil }
        return policy.problem(with: try context.presenceStatus())
    }
}
