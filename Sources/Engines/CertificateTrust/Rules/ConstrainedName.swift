// SPDX-License-Identifier: Apache-2.0

/// A name to compare with name constraints.
enum ConstrainedName {
    /// A host in lower case; of a wildcard, the part after `*.`.
    case dns(host: [UInt8], isWildcard: Bool)
    case email(mailbox: [UInt8], host: [UInt8])
    case uri(host: [UInt8])
    case ip([UInt8])
    /// The normalized relative distinguished names.
    case directory([[UInt8]])

    /// - Parameter kind: the kind of the constraints; it can also be one that an other name carries.
    /// - Throws: if the name is not valid for the kind, so that it cannot be compared.
    init(_ name: GeneralName, as kind: GeneralName.Kind) throws(CertificateError) {
        switch name {
        case .other(.other, let encoded) where kind != .other:
            self = try ConstrainedName(OtherName.name(encoded, as: kind), as: kind)
        case .dns(let bytes):
            let isWildcard = bytes.starts(with: [.asterisk, .dot])
            let host = HostName(bytes: isWildcard ? bytes.dropFirst(2) : bytes)
            guard let host, bytes.last != .dot else { throw CertificateError("\(name) is not a valid host name") }
            self = .dns(host: host.bytes, isWildcard: isWildcard)
        case .email(let bytes):
            guard let (mailbox, host) = Mailbox.parts(bytes) else {
                throw CertificateError("\(name) is not a valid email address")
            }
            self = .email(mailbox: mailbox, host: host)
        case .uri(let bytes):
            guard let host = Self.host(ofURI: bytes) else { throw CertificateError("\(name) has no host name") }
            self = .uri(host: host.bytes)
        case .ip(let bytes):
            guard let address = IPAddress(bytes) else { throw CertificateError("\(name) is not a valid IP address") }
            self = .ip(address.bytes)
        case .directory(let name): self = .directory(name.normalizedRelativeNames)
        case .other(let kind, _): throw CertificateError("\(kind) names are not supported")
        }
    }

    /// The host of `scheme://user@host:port/path`; nil if there is none, or if it is an IP address.
    private static func host(ofURI bytes: ArraySlice<UInt8>) -> HostName? {
        guard let start = bytes.firstRange(of: Array("://".utf8)) else { return nil }
        let authority = bytes[start.upperBound...].prefix { !ends.contains($0) }
        let place = authority.lastIndex(of: .at).map { authority[($0 + 1)...] } ?? authority
        return HostName(bytes: place.prefix { $0 != UInt8(ascii: ":") })
    }

    /// The characters that end the authority part of a URI (RFC 3986, section 3.2).
    private static let ends = Array("/?#".utf8)
}
