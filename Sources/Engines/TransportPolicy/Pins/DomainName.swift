// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// A domain in a setting: a host name in lower case, with A-labels, without a trailing dot.
public struct DomainName: Hashable, Sendable {
    public let host: HostName

    /// Parses the text of a setting. A text that could mean more than one thing is refused by name,
    /// because a setting that silently matches no host, as `*.example.com`, would protect nothing.
    public init(_ text: String) throws(TransportPolicyError) {
        guard text.utf8.count <= Self.maxLength else {
            throw TransportPolicyError("a domain has at most \(Self.maxLength) characters, found \(text.quoted)")
        }
        if let problem = Self.problem(text) { throw problem }
        guard let host = HostName(text) else {
            throw TransportPolicyError("expected a domain such as example.com, found \(text.quoted)")
        }
        self.host = host
    }

    private static let maxLength = 253

    /// Why a text that may be a host name is not accepted in a setting.
    private static func problem(_ text: String) -> TransportPolicyError? {
        let found = "found \(text.quoted)"
        if text.isEmpty { return TransportPolicyError("a domain must not be empty") }
        if !text.utf8.allSatisfy({ $0 < 0x80 }) {
            return TransportPolicyError("a domain must have A-labels (xn--…) for international names, \(found)")
        }
        if text.contains("/") { return TransportPolicyError("expected a domain, not a URL, \(found)") }
        if text.contains("*") {
            return TransportPolicyError(
                "a domain must not have a wildcard, \(found)", hint: "include subdomains instead")
        }
        if IPAddress(text: text) != nil {
            return TransportPolicyError("expected a domain, not an IP address, \(found)")
        }
        if text.contains(":") { return TransportPolicyError("a domain must not have a port, \(found)") }
        if text.hasPrefix(".") || text.hasSuffix(".") {
            return TransportPolicyError("a domain must not begin or end with a dot, \(found)")
        }
        if text.contains(where: \.isUppercase) {
            return TransportPolicyError("a domain must be in lower case, \(found)", hint: "write \(text.lowercased())")
        }
        return nil
    }
}

// MARK: CustomStringConvertible

extension DomainName: CustomStringConvertible {
    public var description: String { host.description }
}
