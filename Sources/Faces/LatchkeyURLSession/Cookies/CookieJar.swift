// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import TransportPolicy

/// The cookies of a session: how they are sent and stored (RFC 6265).
struct CookieJar: Sendable {
    private let storage: HTTPCookieStorage
    private let policy: HTTPCookie.AcceptPolicy
    private let sends: Bool

    /// Nil if the session has no storage.
    init?(_ configuration: URLSessionConfiguration) {
        guard let storage = configuration.httpCookieStorage else { return nil }
        (self.storage, policy, sends) = (
            storage, configuration.httpCookieAcceptPolicy, configuration.httpShouldSetCookies
        )
    }

    /// The value of `Cookie`; nil if there are none.
    func field(for url: URL) -> String? {
        guard sends, let host = url.host?.lowercased() else { return nil }
        let cookies = (storage.cookies ?? []).filter { cookie in
            cookie.expiresDate.map { $0 > Date() } ?? true
                && (!cookie.isSecure || url.scheme?.lowercased() == "https")
                && Self.matches(host, cookie.domain.lowercased()) && Self.matches(path: url.path, cookie.path)
        }
        guard !cookies.isEmpty else { return nil }
        return cookies.sorted(by: Self.precedes).map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// Whether a program has set no field of its own. Foundation puts the cookies of the storage into
    /// the request of a task, in any order, and by rules of its own.
    func isOfStorage(_ field: String?, for url: URL) -> Bool {
        guard let field else { return true }
        let stored = Set((storage.cookies(for: url) ?? []).map { "\($0.name)=\($0.value)" })
        return sends && Set(field.components(separatedBy: "; ")).isSubset(of: stored)
    }

    /// The longer path first, then the older cookie (RFC 6265, section 5.4). Foundation's storage has
    /// no order.
    private static func precedes(_ left: HTTPCookie, _ right: HTTPCookie) -> Bool {
        guard left.path.count == right.path.count else { return left.path.count > right.path.count }
        let (first, second) = (created(left), created(right))
        return first == second ? left.name < right.name : first < second
    }

    /// Seconds; 0 if Foundation does not know it.
    private static func created(_ cookie: HTTPCookie) -> Double {
        let value = cookie.properties?[HTTPCookiePropertyKey(rawValue: "Created")]
        return (value as? Double) ?? (value as? Date)?.timeIntervalSinceReferenceDate ?? 0
    }

    /// Stores the cookies of a response that its host may set.
    func store(_ exchange: HTTPExchange, _ url: URL, _ mainDocument: URL?) {
        guard policy != .never, let host = url.host?.lowercased() else { return }
        let isForeign = mainDocument?.host.map { !Self.matches(host, ".\($0.lowercased())") } ?? false
        guard policy == .always || !isForeign else { return }
        for value in exchange.values("Set-Cookie").prefix(Self.maxCount) where value.utf8.count <= Self.maxLength {
            // Foundation splits a value at commas, but cookies may contain commas.
            for cookie in HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url).prefix(1)
            where Self.mayBeSet(cookie, by: url, host) {
                storage.setCookie(cookie)
            }
        }
    }

    /// - Parameter host: in lower case.
    static func mayBeSet(_ cookie: HTTPCookie, by url: URL, _ host: String) -> Bool {
        let (domain, isSecure) = (cookie.domain.lowercased(), url.scheme?.lowercased() == "https")
        guard matches(host, domain), !cookie.isSecure || isSecure else { return false }
        if domain.hasPrefix("."), domain.dropFirst() != host {
            guard let name = try? DomainName(String(domain.dropFirst())), !suffixes.contains(name) else { return false }
        } else if domain.hasPrefix("."), let name = try? DomainName(host), suffixes.contains(name) {
            return false
        }
        if cookie.name.hasPrefix("__Secure-"), !cookie.isSecure { return false }
        if cookie.name.hasPrefix("__Host-"), !cookie.isSecure || domain.hasPrefix(".") || cookie.path != "/" {
            return false
        }
        return true
    }

    /// Whether a host gets the cookies of a domain: itself, and names below a domain that begins with a dot. No names
    /// are below an address.
    static func matches(_ host: String, _ domain: String) -> Bool {
        guard domain.hasPrefix(".") else { return host == domain }
        let name = domain.dropFirst()
        guard host != name else { return true }
        return host.hasSuffix(domain) && !host.allSatisfy { $0.isNumber || $0 == "." } && !host.contains(":")
    }

    static func matches(path: String, _ cookiePath: String) -> Bool {
        let path = path.isEmpty ? "/" : path
        return path == cookiePath || cookiePath.isEmpty
            || (path.hasPrefix(cookiePath)
                && (cookiePath.hasSuffix("/") || path.dropFirst(cookiePath.count).first == "/"))
    }

    private static let suffixes = PublicSuffixes.system()
    /// Of the cookies in one response, and of the length of one.
    private static let (maxCount, maxLength) = (50, 8 << 10)
}
