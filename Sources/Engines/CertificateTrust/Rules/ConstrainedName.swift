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
            let host = HostName(bytes: isWildcard ? bytes.dropFirst(2) : bytes)
            guard let host, bytes.last != .dot else { throw CertificateError("\(name) is no name of a host") }
            self = .dns(host: host.bytes, isWildcard: isWildcard)
        case .email(let bytes):
            guard let (mailbox, host) = Mailbox.parts(bytes) else {
                throw CertificateError("\(name) is no address of mail")
            }
            self = .email(mailbox: mailbox, host: host)
        case .uri(let bytes):
            guard let host = Self.host(ofURI: bytes) else { throw CertificateError("\(name) names no host") }
            self = .uri(host: host.bytes)
        case .ip(let bytes):
            guard let address = IPAddress(bytes) else { throw CertificateError("\(name) is no IP address") }
            self = .ip(address.bytes)
        case .directory(let name): self = .directory(name.normalizedRelativeNames)
        case .other(let kind, _): throw CertificateError("\(kind) names are not understood")
        }
    }

    /// The host of `scheme://user@host:port/path`; nil where there is none, or an address.
    private static func host(ofURI bytes: ArraySlice<UInt8>) -> HostName? {
        guard let start = bytes.firstRange(of: Array("://".utf8)) else { return nil }
        let authority = bytes[start.upperBound...].prefix { !ends.contains($0) }
        let place = authority.lastIndex(of: .at).map { authority[($0 + 1)...] } ?? authority
        return HostName(bytes: place.prefix { $0 != UInt8(ascii: ":") })
    }

    /// What follows an authority (RFC 3986, section 3.2).
    private static let ends = Array("/?#".utf8)
}
