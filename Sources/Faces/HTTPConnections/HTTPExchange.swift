// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import LatchkeyNIOSSL

/// The final response to a request (never 1xx), with a body that is read at the pace of the reader.
package struct HTTPExchange: Sendable {
    package let status: Int
    /// `1.1` or `2`.
    package let version: String
    package let fields: [HTTPField]
    /// Decoded if the request says so. Read once; dropping it, or cancelling the task, ends the exchange.
    package let body: HTTPResponseBody
    package let connection: HTTPConnectionFacts
    package let times: HTTPTimes
}

/// For metrics and for decisions.
package struct HTTPConnectionFacts: Sendable {
    /// Nil without TLS.
    package let peer: TLSHandshake.Peer?
    package let tlsVersion: String?
    /// `http/1.1` or `h2`.
    package let protocolName: String
    package internal(set) var isReused: Bool
    package let isProxied: Bool
    /// Addresses without ports.
    package let localAddress: String?
    package let remoteAddress: String?
    package let localPort: Int?
    package let remotePort: Int?
}

/// When the parts of an exchange began and ended; nil where a part did not take place.
package struct HTTPTimes: Sendable {
    package var lookupStart, lookupEnd, connectStart, connectEnd, secureStart, secureEnd: Date?
    package var requestStart, requestEnd, responseStart: Date?
}
