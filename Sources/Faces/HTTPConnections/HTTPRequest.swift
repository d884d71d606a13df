// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// A request for one exchange with a server.
package struct HTTPRequest: Sendable {
    package var method: String
    package var target: HTTPTarget
    /// In order. `Host`, `Content-Length`, `Transfer-Encoding`, `Connection` and their relatives are set
    /// by the connection; given ones are not sent.
    package var fields: [HTTPField]
    package var body: HTTPRequestBody
    /// Whether `gzip`, `deflate` and `br` are asked for and decoded. A response to a request with a field
    /// `Range` or `Accept-Encoding` of its own is not decoded.
    package var decodesContent = true

    package init(
        _ method: String, _ target: HTTPTarget, fields: [HTTPField] = [], body: HTTPRequestBody = .none
    ) {
        (self.method, self.target, self.fields, self.body) = (method, target, fields, body)
    }

    /// Whether the request may be sent again when the connection ended before a response, although the
    /// server may have received it (RFC 9110, section 9.2.2).
    var isRepeatable: Bool {
        guard ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method) else { return false }
        return hasReplayableBody
    }

    /// Whether the body can be sent again.
    var hasReplayableBody: Bool { if case .stream = body { false } else { true } }
}

package enum HTTPRequestBody: Sendable {
    case none
    case bytes(ByteBuffer)
    /// Read once. `next` returns nil at the end. Without a length, the body is sent in chunks.
    case stream(length: Int?, next: @Sendable () async throws -> ByteBuffer?)
}
