// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

extension LAContext {
    /// Starts an evaluation with the present settings.
    func evaluate(
        _ request: EvaluationRequest, _ reason: String, _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let settings = settings.withLock { $0 }
        evaluator.evaluate { [self] context in
            try request.perform(in: context, settings, reason: reason)
            if request.concernsBiometry { note((try? context.presenceStatus())?.domainState) }
        } reply: { error in
            reply(error == nil, error)
        }
    }

    /// Returns why the policy cannot be evaluated now; nil if it can.
    func availability(of policy: LAPolicy) -> (any Error)? {
        guard !evaluator.isInvalid else { return LAError(.invalidContext) }
        do {
            let status = try evaluator.context.presenceStatus()
            let problem = policy.problem(with: status)
            settings.withLock { settings in
                settings.biometryType = status.biometryType
                if policy.isBiometric { settings.domainState = problem == nil ? status.domainState : nil }
            }
            return problem
        } catch {
            return LAError.reporting(error)
        }
    }

    /// Returns the result of an asynchronous call.
    static func outcome(_ isSuccess: Bool, _ error: (any Error)?) -> Result<Bool, any Error> {
        if isSuccess { return .success(true) }
        return .failure(error ?? LAError(.authenticationFailed))
    }

    private func note(_ domainState: Data?) { settings.withLock { $0.domainState = domainState } }
}
