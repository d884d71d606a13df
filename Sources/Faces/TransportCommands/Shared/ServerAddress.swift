// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LatchkeyCommands

/// A server that a command line names: a host and a port.
struct ServerAddress: Hashable, Sendable {
    /// As in a URL, without brackets.
    let host: String
    let port: Int

    init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// Parses `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    ///
    /// - Throws: errSecParam with the text that was found.
    init(_ text: String, defaultPort: Int = 443) throws(CommandFailure) {
        let found = "found '\(text.prefix(100))'"
        if text.contains("/") {
            throw .parameter("expected HOST or HOST:PORT, \(found)", hint: "leave out https:// and the path")
        }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .parameter("expected [ADDRESS]:PORT, \(found)") }
            let rest = text[text.index(after: end)...]
            host = String(text[text.index(after: text.startIndex)..<end])
            port = rest.isEmpty ? defaultPort : try Self.port(rest.hasPrefix(":") ? rest.dropFirst() : "", found)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // Several colons are an address of IPv6.
        host = parts.count == 2 ? String(parts[0]) : text
        port = parts.count == 2 ? try Self.port(parts[1], found) : defaultPort
        guard !host.isEmpty else { throw .parameter("expected HOST or HOST:PORT, \(found)") }
    }

    /// Parses a URL with https.
    static func ofURL(_ text: String) throws(CommandFailure) -> (scheme: String, address: ServerAddress) {
        let found = "found '\(text.prefix(100))'"
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
            !host.isEmpty
        else {
            throw .parameter("expected a URL such as https://example.com, \(found)")
        }
        guard scheme == "https" || scheme == "http" else {
            throw .parameter("expected a URL with https or http, \(found)")
        }
        guard parts.user == nil, parts.password == nil else {
            throw .parameter("a URL with a user or a password is not accepted")
        }
        let port = parts.port ?? (scheme == "https" ? 443 : 80)
        guard 1...65_535 ~= port else { throw .parameter("a port must be between 1 and 65535, \(found)") }
        let plain = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return (scheme, ServerAddress(host: plain, port: port))
    }

    private static func port(_ text: Substring, _ found: String) throws(CommandFailure) -> Int {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = Int(text), 1...65_535 ~= port else {
            throw .parameter("a port must be between 1 and 65535, \(found)")
        }
        return port
    }
}

// MARK: CustomStringConvertible

extension ServerAddress: CustomStringConvertible {
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
