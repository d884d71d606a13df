// SPDX-License-Identifier: Apache-2.0

/// A subtree of a name constraint, parsed for many comparisons (RFC 5280, section 4.2.1.10).
enum NameSubtree {
    /// A host in lower case. A leading dot in a permitted subtree excludes the root itself.
    case dns([UInt8])
    case email([UInt8])
    case uri([UInt8])
    case ip(address: [UInt8], mask: [UInt8])
    /// The normalized relative distinguished names.
    case directory([[UInt8]])

    /// - Throws: if the subtree is not valid for its kind, or its kind is not supported.
    init(_ name: GeneralName) throws(CertificateError) {
        switch name {
        case .dns(let bytes): self = .dns(try Self.host(bytes, of: name, mayBeginWithDot: false))
        case .email(let bytes) where bytes.contains(.at):
            guard let (mailbox, _) = Mailbox.parts(bytes) else {
                throw CertificateError("the name constraint \(name) is not a valid email address")
            }
            self = .email(mailbox)
        case .email(let bytes): self = .email(try Self.host(bytes, of: name, mayBeginWithDot: true))
        case .uri(let bytes): self = .uri(try Self.host(bytes, of: name, mayBeginWithDot: true))
        case .directory(let name): self = .directory(name.normalizedRelativeNames)
        case .ip(let bytes):
            guard bytes.count == 8 || bytes.count == 32 else {
                throw CertificateError("an IP address constraint must have 8 or 32 bytes, found \(bytes.count)")
            }
            let mask = Array(bytes.suffix(bytes.count / 2))
            // A CIDR mask: ones, then zeros.
            let rest = mask.drop { $0 == 0xFF }
            let isContiguous =
                rest.first.map { ~$0 & (~$0 &+ 1) == 0 && rest.dropFirst().allSatisfy { $0 == 0 } } ?? true
            guard isContiguous else {
                throw CertificateError("the mask of an IP address constraint is not contiguous")
            }
            self = .ip(address: Array(bytes.prefix(bytes.count / 2)), mask: mask)
        case .other(let kind, _): throw CertificateError("name constraints of the kind \(kind) are not supported")
        }
    }

    /// The host of a subtree; empty for all hosts. An invalid host is an error, because it would
    /// exclude nothing.
    private static func host(
        _ bytes: ArraySlice<UInt8>, of name: GeneralName, mayBeginWithDot: Bool
    ) throws(CertificateError) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let hasDot = mayBeginWithDot && bytes.first == .dot
        guard let host = HostName(bytes: hasDot ? bytes.dropFirst() : bytes), bytes.last != .dot else {
            throw CertificateError("the name constraint \(name) is not a valid host name")
        }
        return (hasDot ? [.dot] : []) + host.bytes
    }

    /// Whether every host that the name stands for is in the subtree.
    func contains(_ name: ConstrainedName) -> Bool {
        switch (self, name) {
        case (.dns(let subtree), .dns(let host, _)): host.isWithin(subtree)
        case (.email(let subtree), .email(let mailbox, let host)):
            subtree.contains(.at)
                ? mailbox == subtree
                : subtree.isEmpty || host == subtree || subtree.first == .dot && host.isWithin(subtree)
        case (.uri(let subtree), .uri(let host)):
            subtree.isEmpty || host == subtree || subtree.first == .dot && host.isWithin(subtree)
        case (.ip(let address, let mask), .ip(let bytes)):
            bytes.count == address.count && zip(bytes, zip(address, mask)).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
        case (.directory(let subtree), .directory(let name)): name.starts(with: subtree)
        default: false
        }
    }

    /// Whether any host that the name stands for is in the subtree; a wildcard stands for many.
    func overlaps(_ name: ConstrainedName) -> Bool {
        guard case (.dns(let subtree), .dns(let host, let isWildcard)) = (self, name) else { return contains(name) }
        let root = subtree.first == .dot ? Array(subtree.dropFirst()) : subtree
        if host.isWithin(root) { return true }
        // `*.example.com` also matches the root of the subtree if that has exactly one label more.
        return isWildcard && root.firstIndex(of: .dot).map { Array(root[($0 + 1)...]) == host } ?? false
    }
}
