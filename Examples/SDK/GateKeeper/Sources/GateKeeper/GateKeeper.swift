// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication

/// Asks the owner of the device before something is shown.
public final class GateKeeper {
    public enum Availability: Equatable {
        case available
        /// The owner cannot be asked, with a code of `LAError`.
        case unavailable(Int)
    }

    private let makeContext: () -> LAContext

    /// - Parameter makeContext: makes the context of each call; tests pass their own class.
    public init(makeContext: @escaping () -> LAContext = { LAContext() }) {
        self.makeContext = makeContext
    }

    /// Returns whether the owner can be asked now. It displays nothing.
    public func availability(of policy: LAPolicy = .deviceOwnerAuthentication) -> Availability {
        var error: NSError?
        if makeContext().canEvaluatePolicy(policy, error: &error) { return .available }
        return .unavailable(error?.code ?? LAError.Code.authenticationFailed.rawValue)
    }

    /// Asks the owner.
    ///
    /// - Parameter completion: receives nil for a success.
    public func open(reason: String, completion: @escaping (LAError?) -> Void) {
        makeContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason) { isOpen, error in
            completion(isOpen ? nil : error as? LAError ?? LAError(.authenticationFailed))
        }
    }
}
