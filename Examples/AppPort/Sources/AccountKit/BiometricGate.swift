// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication

/// Asks the owner before the app shows a token: biometry where there is a sensor, the passcode elsewhere.
public struct BiometricGate {
    public enum Outcome: Equatable, Sendable {
        case opened
        case cancelled
        /// The owner cannot be asked, with the reason.
        case unavailable(String)
        /// The owner was not recognized, with the reason.
        case refused(String)
    }

    private let makeContext: () -> LAContext

    public init(makeContext: @escaping () -> LAContext = { LAContext() }) {
        self.makeContext = makeContext
    }

    /// Asks, and calls the handler once.
    public func open(reason: String, completion: @escaping @Sendable (Outcome) -> Void) {
        let context = makeContext()
        context.localizedCancelTitle = "Not now"
        var policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics
        var problem: NSError?
        if !context.canEvaluatePolicy(policy, error: &problem) {
            policy = .deviceOwnerAuthentication
        }
        guard context.canEvaluatePolicy(policy, error: &problem) else {
            return completion(.unavailable(problem?.localizedDescription ?? "no reason"))
        }
        context.evaluatePolicy(policy, localizedReason: reason) { isOpened, error in
            completion(isOpened ? .opened : Self.outcome(of: error))
        }
    }

    private static func outcome(of error: (any Error)?) -> Outcome {
        guard let error = error as? LAError else { return .refused(error?.localizedDescription ?? "no reason") }
        switch error.code {
        case .userCancel, .appCancel, .systemCancel: return .cancelled
        case .passcodeNotSet, .notInteractive: return .unavailable(error.localizedDescription)
        default: return .refused(error.localizedDescription)
        }
    }
}
