// SPDX-License-Identifier: Apache-2.0

import Security

/// Evaluates as the system does.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    public init(validateHost: Bool = true) {
        self.validateHost = validateHost
    }

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        if validateHost {
            try trust.af.performValidation(forHost: host)
        } else {
            try trust.af.performDefaultValidation()
        }
    }
}

/// Accepts every server, for tests. App Transport Security still decides.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
    public init() {}

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}
