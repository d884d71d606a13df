// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

// What the extensions of RFC 5280, section 4.2.1, hold.

public struct BasicConstraints: Hashable, Sendable {
    public let isAuthority: Bool
    /// How many intermediates may follow; nil where there is no bound.
    public let pathLength: Int?

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let isAuthority = try DER.decodeDefault(&nodes, defaultValue: false)
            let pathLength = try nodes.next().map { try $0.number() }
            guard isAuthority || pathLength == nil else { throw CertificateError("a path length stands in a certificate of no authority") }
            return BasicConstraints(isAuthority: isAuthority, pathLength: pathLength)
        }
    }

    private init(isAuthority: Bool, pathLength: Int?) {
        self.isAuthority = isAuthority
        self.pathLength = pathLength
    }
}

public struct KeyUsage: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let digitalSignature = KeyUsage(rawValue: 0x8000)
    public static let contentCommitment = KeyUsage(rawValue: 0x4000)
    public static let keyEncipherment = KeyUsage(rawValue: 0x2000)
    public static let dataEncipherment = KeyUsage(rawValue: 0x1000)
    public static let keyAgreement = KeyUsage(rawValue: 0x0800)
    public static let keyCertSign = KeyUsage(rawValue: 0x0400)
    public static let crlSign = KeyUsage(rawValue: 0x0200)
    public static let encipherOnly = KeyUsage(rawValue: 0x0100)
    public static let decipherOnly = KeyUsage(rawValue: 0x0080)

    init(_ node: ASN1Node) throws {
        let bytes = Array(try ASN1BitString(derEncoded: node, withIdentifier: .bitString).bytes)
        guard bytes.count <= 2 else { throw CertificateError("a key usage has more bits than there are usages") }
        rawValue = UInt16(bytes.first ?? 0) << 8 | UInt16(bytes.count == 2 ? bytes[1] : 0)
        guard rawValue != 0 else { throw CertificateError("a key usage names none") }
    }
}

public struct AuthorityKeyIdentifier: Sendable {
    public let keyIdentifier: ArraySlice<UInt8>?
    public let issuer: [GeneralName]?
    public let serialNumber: ArraySlice<UInt8>?

    init(_ node: ASN1Node) throws {
        var (identifier, issuer, serialNumber): (ArraySlice<UInt8>?, [GeneralName]?, ArraySlice<UInt8>?) = (nil, nil, nil)
        var last: UInt?
        for member in try node.members() {
            let tag = member.identifier.tagNumber
            guard member.identifier.tagClass == .contextSpecific, last.map({ $0 < tag }) ?? true else {
                throw CertificateError("the parts of an authority key identifier are out of order")
            }
            last = tag
            switch tag {
            case 0: identifier = member.implicit(0)
            case 1: issuer = try GeneralName.all(member, member.identifier)
            case 2: serialNumber = member.implicit(2)
            default: throw CertificateError("an authority key identifier has a part \(tag)")
            }
        }
        self.keyIdentifier = identifier
        self.issuer = issuer
        self.serialNumber = serialNumber
    }
}

public struct NameConstraints: Sendable {
    /// Where a kind is named here, every name of that kind has to lie in one of its subtrees.
    public let permitted: [GeneralName]
    /// No name may lie in one of these.
    public let excluded: [GeneralName]

    init(_ node: ASN1Node) throws {
        var (permitted, excluded): ([GeneralName]?, [GeneralName]?)
        for member in try node.members() {
            if member.isContextSpecific(0), permitted == nil, excluded == nil {
                permitted = try Self.subtrees(member)
            } else if member.isContextSpecific(1), excluded == nil {
                excluded = try Self.subtrees(member)
            } else {
                throw CertificateError("name constraints have a part that is neither permitted nor excluded")
            }
        }
        guard permitted != nil || excluded != nil else { throw CertificateError("name constraints are empty") }
        self.permitted = permitted ?? []
        self.excluded = excluded ?? []
    }

    private static func subtrees(_ node: ASN1Node) throws -> [GeneralName] {
        let subtrees = try node.members(node.identifier).map { subtree in
            // The distances minimum and maximum are 0 and absent (section 4.2.1.10), which DER leaves out.
            let members = try subtree.members()
            guard members.count == 1 else { throw CertificateError("a name constraint has a minimum or a maximum") }
            return try GeneralName(members[0])
        }
        guard !subtrees.isEmpty else { throw CertificateError("a list of name constraints is empty") }
        return subtrees
    }
}

public struct PolicyConstraints: Hashable, Sendable {
    /// After how many certificates an explicit policy is required.
    public let requireExplicitPolicy: Int?
    /// After how many certificates policies may not be mapped any more.
    public let inhibitPolicyMapping: Int?

    init(_ node: ASN1Node) throws {
        var (explicit, mapping): (Int?, Int?)
        for member in try node.members() {
            if member.isContextSpecific(0), explicit == nil, mapping == nil {
                explicit = try member.number(member.identifier)
            } else if member.isContextSpecific(1), mapping == nil {
                mapping = try member.number(member.identifier)
            } else {
                throw CertificateError("policy constraints have an unknown part")
            }
        }
        guard explicit != nil || mapping != nil else { throw CertificateError("policy constraints are empty") }
        requireExplicitPolicy = explicit
        inhibitPolicyMapping = mapping
    }
}

/// Where more about the issuer is found (section 4.2.2.1).
public struct AuthorityInformation: Sendable {
    public let ocspResponders: [String]
    public let issuerCertificates: [String]

    init(_ node: ASN1Node) throws {
        var places: [ObjectIdentifier: [String]] = [:]
        for member in try node.members() {
            let parts = try member.members()
            guard parts.count == 2 else { throw CertificateError("an access description has \(parts.count) parts, not 2") }
            if case .uri(let bytes) = try GeneralName(parts[1]) {
                places[try ObjectIdentifier(parts[0]), default: []].append(String(decoding: bytes, as: UTF8.self))
            }
        }
        ocspResponders = places[ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 48, 1)] ?? []
        issuerCertificates = places[ObjectIdentifier(1, 3, 6, 1, 5, 5, 7, 48, 2)] ?? []
    }
}
