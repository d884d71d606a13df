// SPDX-License-Identifier: Apache-2.0

/// A name that constraints are held against.
enum ConstrainedName {
    /// A host in lower case; of a wildcard what follows its `*.`.
    case dns(host: [UInt8], isWildcard: Bool)
    case email(mailbox: [UInt8], host: [UInt8])
    case uri(host: [UInt8])
    case ip([UInt8])
    /// Each relative name normalized.
    case directory([[UInt8]])

    /// - Throws: where the name is not one of its kind, so that nobody can say where it lies.
    init(_ name: GeneralName) throws(CertificateError) {
        switch name {
        case .dns(let bytes):
            let isWildcard = bytes.starts(with: [.asterisk, .dot])
            let text = String(decoding: isWildcard ? bytes.dropFirst(2) : bytes, as: UTF8.self)
            guard let host = HostName(text), !text.hasSuffix(".") else { throw CertificateError("\(name) is no name of a host") }
            self = .dns(host: Array(host.description.utf8), isWildcard: isWildcard)
        case .email(let bytes):
            guard let (mailbox, host) = Mailbox.parts(bytes) else { throw CertificateError("\(name) is no address of mail") }
            self = .email(mailbox: mailbox, host: host)
        case .uri(let bytes):
            guard let host = Self.host(ofURI: String(decoding: bytes, as: UTF8.self)) else {
                throw CertificateError("\(name) names no host")
            }
            self = .uri(host: Array(host.description.utf8))
        case .ip(let bytes):
            guard let address = IPAddress(bytes) else { throw CertificateError("\(name) is no IP address") }
            self = .ip(address.bytes)
        case .directory(let name): self = .directory(name.normalizedRelativeNames)
        case .other(let kind, _): throw CertificateError("\(kind) names are not understood")
        }
    }

    /// The host of `scheme://user@host:port/path`; nil where there is none, or an address.
    private static func host(ofURI text: String) -> HostName? {
        guard let start = text.firstRange(of: "://") else { return nil }
        let authority = text[start.upperBound...].prefix { !"/?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return HostName(String(place.prefix { $0 != ":" }))
    }
}
