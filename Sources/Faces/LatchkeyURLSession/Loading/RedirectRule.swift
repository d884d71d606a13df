// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking

/// The request that follows a redirect (RFC 9110, section 15.4).
struct RedirectRule {
    /// The most redirects of one request.
    static let maxCount = 20

    let request: URLRequest
    let keepsBody: Bool

    /// Nil if the response is not a redirect that can be followed.
    init?(_ original: URLRequest, status: Int, location: String?) {
        guard [301, 302, 303, 307, 308].contains(status), let location, let origin = original.url,
            let url = Self.target(location, origin)
        else { return nil }
        var request = original
        request.url = url
        let method = original.httpMethod ?? "GET"
        let becomesGET = (status == 303 && method != "HEAD") || ([301, 302].contains(status) && method == "POST")
        if becomesGET {
            request.httpMethod = "GET"
            request.httpBody = nil
            request.removeFields(Self.contentFields)
        }
        keepsBody = !becomesGET
        request.removeFields(["Host", "Cookie"])
        if Origin(url) != Origin(origin) { request.removeFields(Self.secretFields) }
        self.request = request
    }

    /// Returns the URL without user and password: they are never sent at a server's request. The fragment is the
    /// original's if the location has none.
    private static func target(_ location: String, _ origin: URL) -> URL? {
        guard location.utf8.count <= maxLength, let url = URL(string: location, relativeTo: origin)?.absoluteURL,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return nil }
        (components.user, components.password) = (nil, nil)
        if components.percentEncodedFragment == nil {
            components.percentEncodedFragment =
                URLComponents(url: origin, resolvingAgainstBaseURL: true)?.percentEncodedFragment
        }
        return components.url
    }

    private static let maxLength = 16 << 10
    private static let contentFields = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding",
    ]
    private static let secretFields = ["Authorization", "Proxy-Authorization", "Cookie"]
}

/// The part of a URL that secrets belong to: scheme, host and port.
struct Origin: Hashable {
    let scheme, host: String
    let port: Int

    init?(_ url: URL?) {
        guard let url, let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty else {
            return nil
        }
        (self.scheme, self.host) = (scheme, host)
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}

extension URLRequest {
    mutating func removeFields(_ names: [String]) {
        for name in names { setValue(nil, forHTTPHeaderField: name) }
    }
}
