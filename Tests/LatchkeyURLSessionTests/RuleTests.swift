// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import LatchkeyURLSession
import Testing

/// The rules of HTTP that need no server.
@Suite("Rules of HTTP")
struct RuleTests {
    // MARK: Redirects

    @Test(
        "A redirect changes the method as the standard and browsers do",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (301, "PUT", "PUT"),
            (302, "DELETE", "DELETE"), (303, "HEAD", "HEAD"), (307, "POST", "POST"), (308, "PUT", "PUT"),
            (301, "GET", "GET"),
        ])
    func method(_ status: Int, _ method: String, _ expected: String) throws {
        var request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        request.httpMethod = method
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let rule = try #require(RedirectRule(request, status: status, location: "/y"))
        #expect(rule.request.httpMethod == expected)
        #expect(rule.keepsBody == (expected != "GET" || method == "GET"))
        #expect((rule.request.value(forHTTPHeaderField: "Content-Type") == nil) == !rule.keepsBody)
    }

    @Test(
        "A redirect leads to the location, with the fragment and without a password",
        arguments: [
            ("/b?c=d", "https://a.example/b?c=d#f"), ("https://b.example/#g", "https://b.example/#g"),
            ("//b.example/x", "https://b.example/x#f"), ("https://me:secret@b.example/", "https://b.example/#f"),
        ])
    func target(_ location: String, _ expected: String) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x/y#f")))
        #expect(RedirectRule(request, status: 302, location: location)?.request.url?.absoluteString == expected)
    }

    @Test(
        "Authorization goes with a redirect within the origin alone, and Cookie with none",
        arguments: [
            ("/y", true), ("https://a.example:443/y", true), ("https://a.example:8443/y", false),
            ("http://a.example/y", false), ("https://b.a.example/y", false), ("https://A.EXAMPLE/y", true),
        ])
    func secrets(_ location: String, _ isKept: Bool) throws {
        var request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        request.setValue("Basic eA==", forHTTPHeaderField: "Authorization")
        request.setValue("a=b", forHTTPHeaderField: "Cookie")
        let next = try #require(RedirectRule(request, status: 307, location: location)).request
        #expect((next.value(forHTTPHeaderField: "Authorization") != nil) == isKept)
        #expect(next.value(forHTTPHeaderField: "Cookie") == nil)
    }

    @Test("An answer that is no redirect is a response", arguments: [200, 300, 304, 305, 404])
    func noRedirect(_ status: Int) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        #expect(RedirectRule(request, status: status, location: "/y") == nil)
        #expect(RedirectRule(request, status: 302, location: nil) == nil)
    }

    // MARK: Cookies

    @Test(
        "A host may set cookies for itself and for its own domain",
        arguments: [
            ("a=b", true), ("a=b; Domain=a.example.org", true), ("a=b; Domain=example.org", true),
            ("a=b; Domain=org", false), ("a=b; Domain=b.example.org", false), ("a=b; Domain=xa.example.org", false),
            ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Secure; Path=/; Domain=example.org", false),
            ("__Host-a=b; Path=/", false), ("__Secure-a=b", false), ("__Secure-a=b; Secure", true),
        ])
    func cookies(_ field: String, _ isAllowed: Bool) throws {
        let url = try #require(URL(string: "https://a.example.org/x"))
        let cookie = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url).first
        #expect((cookie.map { CookieJar.mayBeSet($0, by: url, "a.example.org") } ?? false) == isAllowed)
    }

    @Test(
        "Cookies go to their domain and path",
        arguments: [
            ("a.example", "a.example", true), ("b.a.example", "a.example", false), ("b.a.example", ".a.example", true),
            ("xa.example", ".a.example", false), ("a.example", ".a.example", true), ("127.0.0.1", ".0.0.1", false),
        ])
    func domains(_ host: String, _ domain: String, _ isSent: Bool) {
        #expect(CookieJar.matches(host, domain) == isSent)
    }

    @Test(
        "A cookie's path includes the paths below it",
        arguments: [
            ("/a", "/a", true), ("/a/b", "/a", true), ("/ab", "/a", false), ("/a", "/a/b", false), ("", "/", true),
        ])
    func paths(_ path: String, _ cookie: String, _ isSent: Bool) {
        #expect(CookieJar.matches(path: path, cookie) == isSent)
    }

    // MARK: Freshness

    @Test(
        "A response is fresh as long as its server says",
        arguments: [
            (["Cache-Control": "max-age=60"], 59, true), (["Cache-Control": "max-age=60"], 61, false),
            (["Cache-Control": "max-age=60", "Age": "50"], 20, false),
            (["Cache-Control": "no-cache, max-age=60"], 1, false),
            (["Expires": "Sun, 22 Nov 2026 12:01:00 GMT"], 30, true), (["Expires": "0"], 0, false), ([:], 0, false),
            (["Last-Modified": "Sun, 22 Nov 2026 11:50:00 GMT"], 59, true),
            (["Last-Modified": "Sun, 22 Nov 2026 11:50:00 GMT"], 61, false),
        ] as [([String: String], Double, Bool)])
    func freshness(_ fields: [String: String], _ age: Double, _ isFresh: Bool) throws {
        let url = try #require(URL(string: "https://a.example/"))
        let all = fields.merging(["Date": "Sun, 22 Nov 2026 12:00:00 GMT"]) { $1 }
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: all))
        // 2026-11-22 12:00:00 UTC.
        let now = Date(timeIntervalSince1970: 1_795_348_800 + age)
        #expect(CacheFreshness(response).isFresh(for: URLRequest(url: url), at: now) == isFresh)
    }

    @Test(
        "A date of HTTP is read in the form that servers must send",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Fri, 31 Dec 2100 00:00:00 GMT", 4_133_894_400), ("Mon, 01 Mar 1600 00:00:00 GMT", -11_670_912_000),
            ("Tue, 29 Feb 2100 00:00:00 GMT", nil), ("Thu, 31 Jun 2026 00:00:00 GMT", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT+1", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("Sun, 06 Nov 1994 08-49-37 GMT", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("XXX, 06 Nov 1994 08:49:37 GMT", nil), ("0", nil), ("", nil),
        ] as [(String, Double?)])
    func dates(_ text: String, _ seconds: Double?) {
        #expect(HTTPDate(text)?.date.timeIntervalSince1970 == seconds)
    }

    @Test(
        "A response that must not be stored is not stored",
        arguments: [
            (["Cache-Control": "no-store, max-age=60"], false), (["Cache-Control": "max-age=60", "Vary": "*"], false),
            (["Cache-Control": "max-age=60", "Vary": "Accept-Encoding"], true), ([:], false), (["ETag": "\"a\""], true),
        ] as [([String: String], Bool)])
    func storing(_ fields: [String: String], _ mayBeStored: Bool) throws {
        let url = try #require(URL(string: "https://a.example/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
        #expect(CacheFreshness(response).mayBeStored == mayBeStored)
    }

    // MARK: Events and ranges

    @Test("Lines and events of a stream do not depend on how it is divided", arguments: [1, 2, 3, 1000])
    func events(_ length: Int) throws {
        let text = "\u{FEFF}: hello\r\nid: 7\rdata: a\ndata:b\n\nevent: x\ndata\n\nretry: 1500\ndata: lost"
        let bytes = Array(text.utf8)
        var (splitter, parser, events): (LineSplitter, EventParser, [ServerSentEvent]) = (.init(), .init(), [])
        for start in stride(from: 0, to: bytes.count, by: length) {
            let part = Data(bytes[start..<min(start + length, bytes.count)])
            let lines = splitter.append(part)
            for line in try #require(lines) {
                if let event = try parser.append(line) { events.append(event) }
            }
        }
        #expect(
            events == [
                ServerSentEvent(type: "message", data: "a\nb", id: "7"), ServerSentEvent(type: "x", data: "", id: "7"),
            ])
        #expect(parser.retry == 1.5)
    }

    @Test("A line that is too long is an error")
    func longLine() {
        var splitter = LineSplitter()
        let (allowed, refused) = (
            splitter.append(Data(repeating: 0x61, count: LineSplitter.maxLength)), splitter.append(Data([0x61]))
        )
        #expect(allowed == [] && refused == nil)
    }

    @Test(
        "A content range is read exactly, or not at all",
        arguments: [
            ("bytes 5-9/10", 5), ("bytes 5-9/*", 5), ("bytes 5-9/9", nil), ("bytes 9-5/10", nil), ("bytes */10", nil),
            ("5-9/10", nil), ("bytes -1-9/10", nil), (nil, nil),
        ] as [(String?, Int64?)])
    func ranges(_ text: String?, _ first: Int64?) {
        #expect(ContentRange(text)?.first == first)
    }
}
