// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import TransportPolicy

/// A request as it is sent over HTTP/1.1; the codec of HTTP/2 translates its head.
struct PreparedRequest: Sendable {
    let head: HTTPRequestHead
    let body: HTTPRequestBody
    let decodesContent: Bool

    /// - Parameter proxy: the proxy that the request itself is sent to, as for http.
    /// - Throws: if the method is not a token.
    init(_ request: HTTPRequest, through proxy: HTTPProxy?, isMultiplexed: Bool) throws(HTTPFailure) {
        guard HTTPField.isToken(request.method), request.method != "CONNECT" else {
            throw HTTPFailure(.badURL, "the method \(request.method) cannot be sent")
        }
        let target = request.target
        let absolute = proxy != nil && !target.isSecure
        body = request.body
        decodesContent =
            request.decodesContent && request.fields.values(of: "range").isEmpty
            && request.fields.values(of: "accept-encoding").isEmpty
        var headers = HTTPHeaders([("Host", target.authority)])
        for field in request.fields where !Self.ownFields.contains(field.name.lowercased()) {
            headers.add(name: field.name, value: field.value)
        }
        if decodesContent, let accepted = ContentCoding.accepted {
            headers.add(name: "Accept-Encoding", value: accepted)
        }
        if absolute, let authorization = proxy?.authorization {
            headers.replaceOrAdd(name: "Proxy-Authorization", value: authorization)
        }
        for (name, value) in Self.framing(request, isMultiplexed) { headers.add(name: name, value: value) }
        head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: request.method),
            uri: absolute ? target.absoluteForm : target.pathAndQuery, headers: headers)
    }

    /// The fields that the connection decides.
    private static let ownFields: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade", "te",
        "trailer", "expect", "http2-settings",
    ]

    private static func framing(_ request: HTTPRequest, _ isMultiplexed: Bool) -> [(String, String)] {
        switch request.body {
        case .none: ["POST", "PUT", "PATCH"].contains(request.method) ? [("Content-Length", "0")] : []
        case .bytes(let bytes): [("Content-Length", "\(bytes.readableBytes)")]
        case .stream(let length?, _): [("Content-Length", "\(length)")]
        case .stream(nil, _): isMultiplexed ? [] : [("Transfer-Encoding", "chunked")]
        }
    }
}
