// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// One request over plain HTTP and its response, one
/// `SEQUENCE` in DER: how the information of certificates is published (RFC 5280, section 4.2.1.13; RFC 6960, appendix A). It uses libcrypto's client, with the proxy in `http_proxy`
/// if that is set.
///
/// Use it on a thread that blocks signals, because libcrypto writes to sockets with write(2), and this can raise
/// SIGPIPE.
public struct HTTPExchange: Hashable, Sendable {
    public let url: String
    /// The content of a POST request; nil for a GET request.
    public let content: Content?
    /// The path and the query of the URL.
    private let target: String

    public struct Content: Hashable, Sendable {
        public let type: String
        public let bytes: [UInt8]

        public init(type: String, bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }
    }

    /// Returns nil unless the URL is a plain HTTP URL that can be requested without changes:
    /// printable ASCII, without spaces, a user or a fragment.
    public init?(url: String, sending content: Content? = nil) {
        let scheme = "http://"
        guard url.utf8.count <= 2_048,
            url.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 | 0x20 }),
            url.utf8.allSatisfy({ 0x21..<0x7F ~= $0 && $0 != UInt8(ascii: "#") })
        else { return nil }
        let authority = url.utf8.dropFirst(scheme.utf8.count).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
        guard !authority.isEmpty, !authority.contains(UInt8(ascii: "@")) else { return nil }
        (self.url, self.content) = (url, content)
        let rest = String(decoding: url.utf8.dropFirst(scheme.utf8.count + authority.count), as: UTF8.self)
        target = rest.hasPrefix("/") ? rest : "/" + rest
    }

    /// Sends the request and returns the content of the response: the `SEQUENCE`, and possibly
    /// bytes that came with its last bytes.
    ///
    /// Redirections are not followed, because they could lead to arbitrary hosts, and because early
    /// versions of libcrypto 3.0 free the location twice.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes.
    ///   - seconds: the timeout for the connection, and again for the response, at least 1. It does
    ///     not include the lookup of the host name.
    /// - Throws: ``OpenSSLError``, also if the status of the response is not 200, or if its content
    ///   does not begin with a `SEQUENCE` in DER.
    public func answer(limit: Int, seconds: Int) throws(OpenSSLError) -> [UInt8] {
        defer { ERR_clear_error() }
        var (host, port): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) = (nil, nil)
        guard OSSL_HTTP_parse_url(url, nil, nil, &host, &port, nil, nil, nil, nil) == 1 else {
            throw .last("reading the URL \(url)")
        }
        defer { for part in [host, port] { CRYPTO_free(part, nil, 0) } }
        let answer = (content?.bytes ?? []).withUnsafeBytes { bytes in
            let body = content == nil ? nil : BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer { BIO_free(body) }
            return OSSL_HTTP_transfer(
                nil, host, port, target, 0, nil, nil, nil, nil, nil, nil, 0, nil, content?.type, body, nil, 1, limit,
                Int32(clamping: seconds), 0)
        }
        guard let answer else { throw .last("requesting \(url)") }
        defer { BIO_free(answer) }
        return Self.contents(of: answer)
    }

    private static func contents(of answer: OpaquePointer) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = BIO_read(answer, &buffer, Int32(buffer.count))
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(Int(count))
        }
    }
}
