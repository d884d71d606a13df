// SPDX-License-Identifier: Apache-2.0

package import LatchkeyNIOSSL
package import NIOCore

/// Connections of HTTP/1.1 and HTTP/2, pooled and reused, with one policy.
package final class HTTPConnections: Sendable {
    package struct Configuration: Sendable {
        package var policy = ConnectionPolicy()
        package var trust = PeerTrust()
        package var proxies = HTTPProxies.none
        package var limits = HTTPLimits()
        /// For HTTP/1.1; requests beyond it wait.
        package var maxConnectionsPerHost = 6
        package var connectTimeout = TimeAmount.seconds(60)
        /// How long an unused connection is kept.
        package var idleTimeout = TimeAmount.seconds(60)
        package init() {}
    }

    package init(_ configuration: Configuration) { fatalError("stub") }

    /// Sends a request and returns when the head of the final response has arrived. Redirects, 401 and 407 are responses like others.
    ///
    /// - Parameters:
    ///   - review: asked in each handshake; nil accepts what the policy accepts, and shows no certificate.
    ///   - inactivity: the longest time without a byte in either direction, after the connection is made.
    ///   - sent: called with the number of bytes of the body that were sent until now.
    package func exchange(
        _ request: HTTPRequest, review: (any ServerReview)? = nil, inactivity: TimeAmount = .seconds(60),
        purpose: LoadPurpose = .general, sent: (@Sendable (Int) -> Void)? = nil
    ) async throws(HTTPFailure) -> HTTPExchange { fatalError("stub") }

    /// Ends all connections; later requests fail.
    package func close() async {}
}

package struct HTTPLimits: Sendable {
    /// Of all fields of a response together.
    package var maxFieldBytes = 64 * 1024
    package var maxFields = 256
    /// How much larger than the received bytes a decoded body may be, beyond its first mebibyte.
    package var maxDecodedRatio = 1000
    package init() {}
}

/// The proxies of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
package struct HTTPProxies: Sendable {
    package static let none = HTTPProxies()
    package static func environment(_ environment: [String: String]) throws(HTTPFailure) -> HTTPProxies { fatalError("stub") }
}

/// Why there is no response, or no more of it.
package struct HTTPFailure: Error, Sendable {
    /// Codes of `NSURLErrorDomain` (-1001 timed out, -1003 host not found, -1004 cannot connect, -1005 connection lost, -1017 cannot parse response …).
    package let code: TransportErrorCode
    package let explanation: String
    /// If TLS or the policy is the reason.
    package let refusal: TLSRefusal?

    package init(_ code: TransportErrorCode, _ explanation: String, refusal: TLSRefusal? = nil) {
        (self.code, self.explanation, self.refusal) = (code, explanation, refusal)
    }
}
