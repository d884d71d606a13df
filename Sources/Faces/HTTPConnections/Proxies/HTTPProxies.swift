// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust

/// The proxies of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
package struct HTTPProxies: Sendable {
    package static let none = HTTPProxies()

    private var plain: HTTPProxy?
    private var secure: HTTPProxy?
    private var exclusions: [ProxyExclusion] = []

    /// Reads the variables of an environment; a name in lower case precedes the one in upper case.
    /// `HTTP_PROXY` is ignored if there is a `REQUEST_METHOD`, because a client of a CGI program sets it
    /// with a field `Proxy`.
    ///
    /// - Throws: if a proxy is not a URL of the scheme http.
    package static func environment(_ environment: [String: String]) throws(HTTPFailure) -> HTTPProxies {
        let isCGI = environment["REQUEST_METHOD"] != nil
        func value(_ name: String) -> String? {
            if let value = environment[name], !value.isEmpty { return value }
            guard !(isCGI && name == "http_proxy"), let value = environment[name.uppercased()] else { return nil }
            return value.isEmpty ? nil : value
        }
        func proxy(_ name: String) throws(HTTPFailure) -> HTTPProxy? {
            for name in [name, "all_proxy"] {
                if let text = value(name) { return try HTTPProxy(text, variable: name) }
            }
            return nil
        }
        var proxies = HTTPProxies()
        proxies.plain = try proxy("http_proxy")
        proxies.secure = try proxy("https_proxy")
        proxies.exclusions = (value("no_proxy") ?? "").split { $0 == "," || $0 == " " }
            .compactMap { ProxyExclusion(String($0)) }
        return proxies
    }

    /// The proxy for a target; nil for a direct connection.
    func proxy(for target: HTTPTarget) -> HTTPProxy? {
        guard let proxy = target.isSecure ? secure : plain else { return nil }
        let name = ServerName(requested: target.host)
        return exclusions.contains { $0.includes(name, port: target.port) } ? nil : proxy
    }
}
