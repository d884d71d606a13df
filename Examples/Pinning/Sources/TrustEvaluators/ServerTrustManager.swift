// SPDX-License-Identifier: Apache-2.0

/// The evaluators of an app, by host.
// Its Sendable is unchecked because subclasses may add state; this class has none that changes.
open class ServerTrustManager: @unchecked Sendable {
    public let allHostsMustBeEvaluated: Bool
    public let evaluators: [String: any ServerTrustEvaluating]

    /// - Parameter allHostsMustBeEvaluated: whether a host without an evaluator is refused.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
    }

    /// The evaluator for a host; nil if the default handling decides.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        guard let evaluator = evaluators[host] else {
            if allHostsMustBeEvaluated { throw ServerTrustError.noRequiredEvaluator(host: host) }
            return nil
        }
        return evaluator
    }
}
