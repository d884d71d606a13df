// SPDX-License-Identifier: Apache-2.0

package import LatchkeyNIOSSL

/// Why there is no response, or no more of it.
package struct HTTPFailure: Error, Sendable {
    /// A code of `NSURLErrorDomain`.
    package let code: TransportErrorCode
    /// The expected and the actual state.
    package let explanation: String
    /// If TLS or the policy is the reason.
    package let refusal: TLSRefusal?
    /// If a proxy made no tunnel, because it requires a password.
    package private(set) var proxyChallenge: HTTPProxyChallenge?

    package init(_ code: TransportErrorCode, _ explanation: String, refusal: TLSRefusal? = nil) {
        (self.code, self.explanation, self.refusal) = (code, explanation, refusal)
    }

    package init(_ refusal: TLSRefusal) { self.init(refusal.code, refusal.explanation, refusal: refusal) }

    init(_ challenge: HTTPProxyChallenge, _ explanation: String) {
        self.init(.cannotConnectToHost, explanation)
        proxyChallenge = challenge
    }

    static let cancelled = HTTPFailure(.cancelled, "the task was cancelled")
    static let closed = HTTPFailure(.cancelled, "the connections were closed")
}

// MARK: CustomStringConvertible

extension HTTPFailure: CustomStringConvertible {
    package var description: String { explanation }
}

/// Why one attempt of an exchange failed.
struct AttemptFailure: Error, Sendable {
    enum Repetition: Sendable {
        /// The server may have processed the request, or another attempt would fail too.
        case none
        /// The connection ended before the first byte of a response.
        case ifRepeatable
        /// The server has said that it did not process the request.
        case safe
    }

    let failure: HTTPFailure
    var repetition = Repetition.none
}
