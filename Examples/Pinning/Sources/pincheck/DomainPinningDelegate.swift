// SPDX-License-Identifier: Apache-2.0

import DomainPinning
import Foundation
import Security

/// Asks the validator of the app's pins, as their documentation shows it.
final class DomainPinningDelegate: NSObject, URLSessionDelegate {
    private let pinning: DomainPinning

    init(_ pinning: DomainPinning) { self.pinning = pinning }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if !pinning.pinningValidator.handle(challenge, completionHandler: completionHandler) {
            completionHandler(.performDefaultHandling, nil)
        }
    }
}
