// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The extensions of a certificate; supported ones are parsed.
///
/// An extension that cannot be parsed does not prevent the certificate from being read. It is
/// recorded in ``defects``, and the certificate is not used in a chain.
public struct CertificateExtensions: Sendable {
    /// All extensions, in encoded order.
    public private(set) var all: [CertificateExtension] = []
    public private(set) var basicConstraints: BasicConstraints?
    public private(set) var keyUsage: KeyUsage?
    public private(set) var extendedKeyUsages: [ObjectIdentifier]?
    public private(set) var subjectAlternativeNames: [GeneralName]?
    public private(set) var nameConstraints: NameConstraints?
    public private(set) var subjectKeyIdentifier: ArraySlice<UInt8>?
    public private(set) var authorityKeyIdentifier: AuthorityKeyIdentifier?
    public private(set) var certificatePolicies: [ObjectIdentifier]?
    public private(set) var policyMappings: [PolicyMapping]?
    public private(set) var policyConstraints: PolicyConstraints?
    public private(set) var inhibitAnyPolicy: Int?
    public private(set) var authorityInformation: AuthorityInformation?
    public private(set) var crlDistributionPoints: [DistributionPoint]?
    /// The defects of the extensions, one sentence each.
    public private(set) var defects: [String] = []

    /// No extensions.
    init() {}

    /// - Parameter node: the `SEQUENCE` of extensions.
    init(_ node: ASN1Node) throws {
        all = try node.members().map(CertificateExtension.init)
        if all.isEmpty { defects.append("the list of extensions is empty") }
        var (seen, reported): (Set<ObjectIdentifier>, Set<ObjectIdentifier>) = ([], [])
        for each in all {
            guard seen.insert(each.identifier).inserted else {
                if reported.insert(each.identifier).inserted {
                    defects.append("the extension \(each.identifier) occurs twice")
                }
                continue
            }
            do { try read(each) } catch { defects.append("the extension \(each.identifier) cannot be read: \(error)") }
        }
    }

    private mutating func read(_ each: CertificateExtension) throws {
        guard Self.understood.contains(each.identifier) else { return }
        let node = try DER.parse(each.value)
        switch each.identifier {
        case .basicConstraints: basicConstraints = try BasicConstraints(node)
        case .keyUsage: keyUsage = try KeyUsage(node)
        case .extendedKeyUsage:
            extendedKeyUsages = try node.members().map { try ObjectIdentifier($0) }
            guard extendedKeyUsages?.isEmpty == false else {
                throw CertificateError("an extended key usage is empty")
            }
        case .subjectAlternativeName: subjectAlternativeNames = try GeneralName.all(node)
        case .nameConstraints: nameConstraints = try NameConstraints(node)
        case .subjectKeyIdentifier: subjectKeyIdentifier = try ASN1OctetString(derEncoded: node).bytes
        case .authorityKeyIdentifier: authorityKeyIdentifier = try AuthorityKeyIdentifier(node)
        case .certificatePolicies: certificatePolicies = try Self.policies(node)
        case .policyMappings: policyMappings = try PolicyMapping.all(node)
        case .policyConstraints: policyConstraints = try PolicyConstraints(node)
        case .inhibitAnyPolicy: inhibitAnyPolicy = try node.number()
        case .authorityInformationAccess: authorityInformation = try AuthorityInformation(node)
        case .crlDistributionPoints: crlDistributionPoints = try DistributionPoint.all(node)
        default: break
        }
    }

    private static let understood: Set<ObjectIdentifier> = [
        .basicConstraints, .keyUsage, .extendedKeyUsage, .subjectAlternativeName, .nameConstraints,
        .subjectKeyIdentifier,
        .authorityKeyIdentifier, .certificatePolicies, .policyMappings, .policyConstraints, .inhibitAnyPolicy,
        .authorityInformationAccess,
        .crlDistributionPoints,
    ]

    /// The policies without their qualifiers.
    ///
    /// - Throws: if there are none, or one occurs twice.
    private static func policies(_ node: ASN1Node) throws -> [ObjectIdentifier] {
        let policies = try node.members().map { information in
            guard let policy = try information.members().first else {
                throw CertificateError("a policy has no identifier")
            }
            return try ObjectIdentifier(policy)
        }
        guard !policies.isEmpty else { throw CertificateError("a list of policies is empty") }
        guard Set(policies).count == policies.count else { throw CertificateError("a policy occurs twice") }
        return policies
    }

    /// The first extension with this identifier, if there is one.
    public subscript(_ identifier: ObjectIdentifier) -> CertificateExtension? {
        all.first { $0.identifier == identifier }
    }

    /// The critical extensions that are not supported. A certificate with one must be rejected.
    public var unknownCritical: [ObjectIdentifier] {
        all.filter { $0.isCritical && !Self.understood.contains($0.identifier) }.map(\.identifier)
    }
}
