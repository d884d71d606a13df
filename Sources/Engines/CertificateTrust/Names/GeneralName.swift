// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A name in a certificate (RFC 5280, section 4.2.1.6), or a subtree of names in a name constraint.
public enum GeneralName: Sendable {
    /// An email address, in ASCII.
    case email(ArraySlice<UInt8>)
    /// A host name, in ASCII.
    case dns(ArraySlice<UInt8>)
    case directory(DistinguishedName)
    case uri(ArraySlice<UInt8>)
    /// An address of 4 or 16 bytes; in a name constraint, a mask of the same length follows.
    case ip(ArraySlice<UInt8>)
    /// The DER of a name of an unsupported kind: other name, X.400 address, EDI party name or
    /// registered identifier.
    case other(Kind, ArraySlice<UInt8>)

    /// The kinds of names; the raw value is the tag in RFC 5280.
    public enum Kind: UInt, Sendable, CaseIterable {
        case other = 0
        case email, dns, x400, directory, ediParty, uri, ip, registeredID
    }

    public var kind: Kind {
        switch self {
        case .email: .email
        case .dns: .dns
        case .directory: .directory
        case .uri: .uri
        case .ip: .ip
        case .other(let kind, _): kind
        }
    }

    init(_ node: ASN1Node) throws {
        guard node.identifier.tagClass == .contextSpecific, let kind = Kind(rawValue: node.identifier.tagNumber) else {
            throw CertificateError("unknown tag of a GeneralName: \(node.identifier)")
        }
        switch kind {
        case .email: self = .email(try Self.text(node, "an email address"))
        case .dns: self = .dns(try Self.text(node, "a host name"))
        case .uri: self = .uri(try Self.text(node, "a URI"))
        case .ip:
            guard let bytes = node.primitiveContent else { throw CertificateError("an IP address is constructed") }
            self = .ip(bytes)
        case .directory:
            guard case .constructed(let nodes) = node.content else {
                throw CertificateError("a directory name is empty")
            }
            var iterator = nodes.makeIterator()
            guard let name = iterator.next(), iterator.next() == nil else {
                throw CertificateError("a directory name must hold exactly one name")
            }
            self = .directory(try DistinguishedName(name))
        case .other, .x400, .ediParty, .registeredID: self = .other(kind, node.encodedBytes)
        }
    }

    private static func text(_ node: ASN1Node, _ what: String) throws -> ArraySlice<UInt8> {
        guard let bytes = node.primitiveContent else { throw CertificateError("\(what) is constructed") }
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw CertificateError("\(what) is not ASCII") }
        return bytes
    }

    /// The names of a `GeneralNames`, at least one.
    static func all(_ node: ASN1Node, _ identifier: ASN1Identifier = .sequence) throws -> [GeneralName] {
        let names = try node.members(identifier).map(GeneralName.init)
        guard !names.isEmpty else { throw CertificateError("a list of names is empty") }
        return names
    }
}

// MARK: CustomStringConvertible

extension GeneralName: CustomStringConvertible {
    public var description: String {
        switch self {
        case .email(let bytes): "email:\(Self.printable(bytes))"
        case .dns(let bytes): "DNS:\(Self.printable(bytes))"
        case .uri(let bytes): "URI:\(Self.printable(bytes))"
        case .directory(let name): "directory:\(name)"
        case .ip(let bytes): "IP:\(IPAddress(bytes)?.description ?? "\(bytes.count) bytes")"
        case .other(let kind, let bytes): "\(kind) name of \(bytes.count) bytes"
        }
    }

    private static func printable(_ bytes: ArraySlice<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { 0x20..<0x7F ~= $0 ? Unicode.Scalar($0) : "?" }))
    }
}
