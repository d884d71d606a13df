// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// A request for one exchange with a server.
package struct HTTPRequest: Sendable {
    package var method: String
    package var target: HTTPTarget
    /// In order; `Host`, `Content-Length`, `Transfer-Encoding`, `Accept-Encoding` and `Connection` are set by the connection.
    package var fields: [HTTPField]
    package var body: HTTPRequestBody
    /// Whether `gzip`, `deflate` and `br` are asked for and decoded. A request with a field `Range` or `Accept-Encoding` of its own is not decoded.
    package var decodesContent = true

    package init(
        _ method: String, _ target: HTTPTarget, fields: [HTTPField] = [], body: HTTPRequestBody = .none
    ) {
        (self.method, self.target, self.fields, self.body) = (method, target, fields, body)
    }
}

package struct HTTPField: Hashable, Sendable {
    package let name: String
    package let value: String
    /// Nil if the name is not a token, or the value has a control character.
    package init?(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

package enum HTTPRequestBody: Sendable {
    case none
    case bytes(ByteBuffer)
    /// Read once. `next` returns nil at the end. Without a length, the body is sent in chunks.
    case stream(length: Int?, next: @Sendable () async throws -> ByteBuffer?)
}
