// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
package import Foundation
internal import TransportPolicy

/// Where a request goes: parsed once from a URL of `http` or `https`.
package struct HTTPTarget: Hashable, Sendable {
    package let isSecure: Bool
    /// A host name or an address, without brackets.
    package let host: String
    package let port: Int
    /// Path and query, percent-encoded, beginning with `/`.
    package let pathAndQuery: String

    /// - Throws: if the URL is not absolute with the scheme http or https, or its host is not a host
    ///   name or an address.
    package init(_ url: URL) throws(HTTPFailure) {
        let url = url.absoluteURL
        switch url.scheme?.lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default:
            throw HTTPFailure(
                .unsupportedURL, "expected a URL with http or https, found the scheme \(url.scheme ?? "none")")
        }
        host = try Self.host(url)
        port = url.port ?? (isSecure ? 443 : 80)
        guard 1...65535 ~= port else {
            throw HTTPFailure(.badURL, "a port must be between 1 and 65535, found \(port)")
        }
        let path = url.path(percentEncoded: true)
        let text = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        guard text.hasPrefix("/"), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw HTTPFailure(.badURL, "the path of a URL must begin with / and be percent-encoded")
        }
        pathAndQuery = text
    }

    private static func host(_ url: URL) throws(HTTPFailure) -> String {
        guard var host = url.host(percentEncoded: true), !host.isEmpty else {
            throw HTTPFailure(.badURL, "a URL must have a host")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        do throws(CertificateError) { _ = try ServerName(host) } catch {
            throw HTTPFailure(.badURL, "\(error), found \(host)")
        }
        return host
    }

    var scheme: String { isSecure ? "https" : "http" }

    /// The host with brackets around an address of IPv6, and with the port if it is not the scheme's.
    var authority: String { port == (isSecure ? 443 : 80) ? bracketedHost : "\(bracketedHost):\(port)" }

    var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

    /// The whole URL, for a proxy (RFC 9112, section 3.2.2).
    var absoluteForm: String { "\(scheme)://\(authority)\(pathAndQuery)" }
}
