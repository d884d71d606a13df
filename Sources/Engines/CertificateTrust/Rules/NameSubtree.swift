// SPDX-License-Identifier: Apache-2.0

/// A subtree of names, as name constraints give it, made ready for many comparisons (RFC 5280, section 4.2.1.10).
enum NameSubtree {
    /// In lower case. A dot in front leaves out the name itself, where it narrows what is permitted.
    case dns([UInt8])
    case email([UInt8])
    case uri([UInt8])
    case ip(address: [UInt8], mask: [UInt8])
    case directory(DistinguishedName)

    /// - Throws: where the subtree is none of its kind, or of a kind that is not understood.
    init(_ name: GeneralName) throws(CertificateError) {
        switch name {
        case .dns(let bytes): self = .dns(bytes.lowercased)
        case .email(let bytes): self = .email(bytes.lowercasedHost)
        case .uri(let bytes): self = .uri(bytes.lowercased)
        case .directory(let name): self = .directory(name)
        case .ip(let bytes):
            guard bytes.count == 8 || bytes.count == 32 else {
                throw CertificateError("a constraint of IP addresses has \(bytes.count) bytes")
            }
            let mask = Array(bytes.suffix(bytes.count / 2))
            // Ones, then zeros: CIDR.
            let rest = mask.drop { $0 == 0xFF }
            let isContiguous = rest.first.map { ~$0 & (~$0 &+ 1) == 0 && rest.dropFirst().allSatisfy { $0 == 0 } } ?? true
            guard isContiguous else {
                throw CertificateError("the mask of a constraint of IP addresses has holes")
            }
            self = .ip(address: Array(bytes.prefix(bytes.count / 2)), mask: mask)
        case .other(let kind, _): throw CertificateError("constraints of \(kind) names are not understood")
        }
    }

    /// Whether all that the name stands for lies in the subtree.
    func contains(_ name: ConstrainedName) -> Bool {
        switch (self, name) {
        case (.dns(let subtree), .dns(let host, _)): host.isWithin(subtree)
        case (.email(let subtree), .email(let mailbox, let host)):
            subtree.contains(.at) ? mailbox == subtree : host == subtree || subtree.first == .dot && host.isWithin(subtree)
        case (.uri(let subtree), .uri(let host)): host == subtree || subtree.first == .dot && host.isWithin(subtree)
        case (.ip(let address, let mask), .ip(let bytes)):
            bytes.count == address.count && zip(bytes, zip(address, mask)).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
        case (.directory(let subtree), .directory(let name)): name.isWithin(subtree)
        default: false
        }
    }

    /// Whether anything that the name stands for lies in the subtree: a wildcard stands for many.
    func touches(_ name: ConstrainedName) -> Bool {
        guard case (.dns(let subtree), .dns(let host, let isWildcard)) = (self, name) else { return contains(name) }
        let root = subtree.first == .dot ? Array(subtree.dropFirst()) : subtree
        if host.isWithin(root) { return true }
        // `*.example.com` stands for the subtree's own root where that is one label more.
        return isWildcard && root.firstIndex(of: .dot).map { Array(root[($0 + 1)...]) == host } ?? false
    }
}

/// A name that constraints are held against.
enum ConstrainedName {
    /// A host in lower case; of a wildcard what follows its `*.`.
    case dns(host: [UInt8], isWildcard: Bool)
    case email(mailbox: [UInt8], host: [UInt8])
    case uri(host: [UInt8])
    case ip([UInt8])
    case directory(DistinguishedName)

    /// - Throws: where the name is not one of its kind, so that nobody can say where it lies.
    init(_ name: GeneralName) throws(CertificateError) {
        switch name {
        case .dns(let bytes):
            let isWildcard = bytes.starts(with: [.asterisk, .dot])
            let text = String(decoding: isWildcard ? bytes.dropFirst(2) : bytes, as: UTF8.self)
            guard let host = HostName(text), !text.hasSuffix(".") else { throw CertificateError("\(name) is no name of a host") }
            self = .dns(host: Array(host.description.utf8), isWildcard: isWildcard)
        case .email(let bytes):
            let mailbox = bytes.lowercasedHost
            guard let at = mailbox.lastIndex(of: .at), at > 0, at < mailbox.count - 1 else {
                throw CertificateError("\(name) is no address of mail")
            }
            self = .email(mailbox: mailbox, host: Array(mailbox[(at + 1)...]))
        case .uri(let bytes):
            guard let host = Self.host(ofURI: String(decoding: bytes, as: UTF8.self)) else {
                throw CertificateError("\(name) names no host")
            }
            self = .uri(host: Array(host.description.utf8))
        case .ip(let bytes):
            guard let address = IPAddress(bytes) else { throw CertificateError("\(name) is no IP address") }
            self = .ip(address.bytes)
        case .directory(let name): self = .directory(name)
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

extension UInt8 {
    fileprivate static let dot = UInt8(ascii: ".")
    fileprivate static let at = UInt8(ascii: "@")
    fileprivate static let asterisk = UInt8(ascii: "*")
}

extension Collection<UInt8> {
    fileprivate var lowercased: [UInt8] { map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 } }
}

extension ArraySlice<UInt8> {
    /// With the host in lower case; who is there may be told apart by case.
    fileprivate var lowercasedHost: [UInt8] {
        guard let at = lastIndex(of: .at) else { return lowercased }
        return Array(self[..<at]) + self[at...].lowercased
    }
}

extension [UInt8] {
    /// Whether this host is the root of the subtree or lies below it; with a dot in front, below it only.
    fileprivate func isWithin(_ subtree: [UInt8]) -> Bool {
        guard !subtree.isEmpty else { return true }
        guard count >= subtree.count, suffix(subtree.count).elementsEqual(subtree) else { return false }
        return subtree[0] == .dot ? count > subtree.count : count == subtree.count || self[count - subtree.count - 1] == .dot
    }
}
