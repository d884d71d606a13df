// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import TransportPolicy

/// An entry of `no_proxy`.
struct ProxyExclusion: Hashable, Sendable {
    private enum Subject: Hashable, Sendable {
        case everything
        /// The host and everything below it.
        case domain(HostName)
        case addresses(AddressRange)
    }

    private let subject: Subject
    /// Nil for every port.
    private let port: Int?

    /// Nil for a text that is none of `*`, a domain (`example.com`, `.example.com`, `*.example.com`), an
    /// address, or a range of addresses, with a port or without.
    init?(_ text: String) {
        let (name, port) = Self.split(text)
        self.port = port
        if name == "*" {
            subject = .everything
        } else if let range = AddressRange(name) {
            subject = .addresses(range)
        } else {
            let domain = name.hasPrefix("*.") ? name.dropFirst(2) : name.hasPrefix(".") ? name.dropFirst(1) : name[...]
            guard let host = HostName(String(domain)) else { return nil }
            subject = .domain(host)
        }
    }

    func includes(_ server: ServerName, port: Int) -> Bool {
        if let own = self.port, own != port { return false }
        switch (subject, server) {
        case (.everything, _): return true
        case (.domain(let domain), .host(let host)): return host.labels(below: domain) != nil
        case (.addresses(let range), .address(let address)): return range.contains(address)
        default: return false
        }
    }

    /// Separates the port, and removes brackets.
    private static func split(_ text: String) -> (name: String, port: Int?) {
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            let inner = String(text[text.index(after: text.startIndex)..<end])
            return (inner, Int(text[text.index(after: end)...].drop { $0 == ":" }))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = Int(parts[1]) else { return (text, nil) }
        return (String(parts[0]), port)
    }
}
