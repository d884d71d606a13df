// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import LinuxSystem
internal import TransportPolicy

/// A proxy that is reached without TLS.
struct HTTPProxy: Hashable, Sendable {
    let host: String
    let port: Int
    /// The value of `Proxy-Authorization`; nil without a user.
    private(set) var authorization: String?

    var place: HTTPProxyPlace { HTTPProxyPlace(host: host, port: port) }

    /// The proxy with another value of `Proxy-Authorization`; nil for the one that it has.
    func authorized(_ value: String?) -> HTTPProxy {
        var proxy = self
        if let value { proxy.authorization = value }
        return proxy
    }

    /// - Parameter variable: the name of the environment variable, for errors. They do not show the password.
    init(_ text: String, variable: String) throws(HTTPFailure) {
        let url = URL(string: text.contains("://") ? text : "http://\(text)")
        guard let url, let scheme = url.scheme?.lowercased() else {
            throw HTTPFailure(.badURL, "\(variable) must be a URL such as http://proxy.example.com:3128")
        }
        guard scheme == "http" else {
            throw HTTPFailure(.unsupportedURL, "\(variable) must have the scheme http; \(scheme) is not supported")
        }
        guard var host = url.host(percentEncoded: true), !host.isEmpty else {
            throw HTTPFailure(.badURL, "\(variable) has no host")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if case .invalid = ServerName(requested: host) {
            throw HTTPFailure(.badURL, "the host of \(variable) must be a host name or an address, found \(host)")
        }
        self.host = host
        port = url.port ?? 80
        guard 1...65535 ~= port else { throw HTTPFailure(.badURL, "\(variable) has the invalid port \(port)") }
        authorization = url.user(percentEncoded: false).map { user in
            let password = url.password(percentEncoded: false) ?? ""
            return "Basic \(Base64.text("\(user):\(password)".utf8))"
        }
    }
}
