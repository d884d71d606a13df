// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import OpenSSLCrypto
import Testing

/// Requests over plain HTTP.
@Suite("HTTP exchanges")
struct HTTPExchangeTests {
    @Test(
        "Only plain HTTP URLs are requested",
        arguments: [
            "https://127.0.0.1/", "ldap://127.0.0.1/cn=x", "file:///etc/passwd", "http://", "http:///x",
            "http://u:p@127.0.0.1/",
            "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nX: y", "http://127.0.0.1/#a", "http://127.0.0.1/\u{E4}", "",
            "http://127.0.0.1/" + String(repeating: "a", count: 2_048),
        ])
    func urls(_ url: String) {
        #expect(HTTPExchange(url: url) == nil)
    }

    @Test("A request arrives as it was sent, and the response is one DER SEQUENCE")
    func arrives() throws {
        let server = try LoopbackServer { request in
            .content([0x30, 0x02] + (request.content.isEmpty ? [1, 2] : [3, 4]))
        }
        for target in ["/a/b?c=d&e", "?x", ""] {
            let url = server.url(target)
            let get = try #require(HTTPExchange(url: url))
            #expect(try get.answer(limit: 100, seconds: 120) == [0x30, 0x02, 1, 2])
            let post = try #require(
                HTTPExchange(url: url, sending: HTTPExchange.Content(type: "application/x", bytes: [7, 8])))
            #expect(try post.answer(limit: 100, seconds: 120) == [0x30, 0x02, 3, 4])
        }
        let expected = ["/a/b?c=d&e", "/?x", "/"].flatMap { ["GET \($0) []", "POST \($0) [7, 8]"] }
        #expect(server.requests.map { "\($0.method) \($0.target) \($0.content)" } == expected)
    }

    @Test("Responses over the limit are rejected")
    func limits() throws {
        let server = try LoopbackServer { _ in .content([0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 5, count: 256)) }
        let exchange = try #require(HTTPExchange(url: server.url("/")))
        #expect(try exchange.answer(limit: 260, seconds: 120).count == 260)
        #expect(throws: OpenSSLError.self) { try exchange.answer(limit: 259, seconds: 120) }
    }
}
