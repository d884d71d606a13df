// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust

/// An entry of `NSExceptionDomains`: the settings of one domain, or of a range of addresses.
///
/// The defaults are those of App Transport Security, so that an entry without keys protects its
/// domain where arbitrary loads are allowed.
public struct ExceptionDomain: Hashable, Sendable {
    public enum Subject: Hashable, Sendable {
        case domain(DomainRule)
        case addresses(AddressRange)
    }

    public let subject: Subject
    public var allowsInsecureHTTP = false
    public var minimumVersion = TLSVersion.tls12
    /// If not, the requirements for the leaf's key do not apply either, as Apple documents.
    public var requiresForwardSecrecy = true
    public var requiresCertificateTransparency = false
    /// Whether the rules of the NIAP package for TLS are required (they cannot be verified here); nil for the general
    /// setting.
    public var requiresNIAPPackage: Bool?

    public init(_ subject: Subject) { self.subject = subject }

    /// Whether everything is as App Transport Security's default.
    public var isStrict: Bool { self == Self(subject) }

    var domainRule: DomainRule? { if case .domain(let rule) = subject { rule } else { nil } }

    var rules: LoadRules {
        LoadRules(
            allowsInsecureHTTP: allowsInsecureHTTP, minimumVersion: minimumVersion,
            requiresForwardSecrecy: requiresForwardSecrecy, requiresStrongKey: requiresForwardSecrecy,
            requiresCertificateTransparency: requiresCertificateTransparency)
    }

    /// Returns the entry for the case of an error: it grants nothing, to any subdomain, and keeps the requirements of
    /// its readable parts.
    func refusingExceptions() -> ExceptionDomain {
        var strict =
            switch subject {
            case .domain(let rule): ExceptionDomain(.domain(DomainRule(of: rule.domain, .anyLevel)))
            case .addresses: ExceptionDomain(subject)
            }
        strict.minimumVersion = max(.tls12, minimumVersion)
        strict.requiresCertificateTransparency = requiresCertificateTransparency
        strict.requiresNIAPPackage = requiresNIAPPackage == true ? true : nil
        return strict
    }
}

extension [ExceptionDomain] {
    /// The entry for a server: that of the longest domain, or of the smallest range.
    func entry(for server: ServerName) -> ExceptionDomain? {
        switch server {
        case .host(let host): mostSpecific(for: host, \.domainRule)
        case .address(let address):
            filter { if case .addresses(let range) = $0.subject { range.contains(address) } else { false } }
                .max { $0.prefixLength < $1.prefixLength }
        case .invalid: nil
        }
    }
}

extension ExceptionDomain {
    fileprivate var prefixLength: Int { if case .addresses(let range) = subject { range.prefixLength } else { 0 } }
}

// MARK: CustomStringConvertible

extension ExceptionDomain.Subject: CustomStringConvertible {
    public var description: String {
        switch self {
        case .domain(let rule): rule.domain.description
        case .addresses(let range): range.description
        }
    }
}
