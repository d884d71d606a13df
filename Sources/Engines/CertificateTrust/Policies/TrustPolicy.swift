// SPDX-License-Identifier: Apache-2.0

/// The requirements for a chain, in addition to reaching an anchor.
public indirect enum TrustPolicy: Hashable, Sendable {
    /// Only RFC 5280.
    case basicX509
    /// A TLS server; nil for any name.
    case server(ServerName?)
    /// A TLS client; with a name, the certificate must be for this host.
    case client(ServerName?)
    /// Email (S/MIME); nil for any address.
    case mail(address: String?)
    case codeSigning
    case timeStamping
    /// An EAP server with one of these names; nil for any.
    case eapServer([TrustedServerName]?)
    /// An EAP client with one of these names; nil for any.
    case eapClient([TrustedServerName]?)
    /// An IPsec server or client; nil for any name.
    case ipsec(isServer: Bool, ServerName?)
    /// Apple's policies for receipts of the Mac App Store, Apple IDs and passes.
    case macAppStoreReceipt
    case appleID
    case pass(type: String?, team: String)
    /// Another policy with its key usages replaced by these; the leaf must have at least one of
    /// them.
    case keyUsages(KeyUsage, of: TrustPolicy)
    /// Checks revocation, in addition to the other policies.
    case revocation(RevocationOptions)

    var rules: [any ChainRule] {
        switch self {
        // The evaluation adds the rule for revocation.
        case .basicX509, .revocation: []
        case .server(let name):
            [
                EndEntityRule(), ValidityPeriodRule(), HostNameSyntaxRule(),
                ExtendedKeyUsageRule(usage: .serverAuthentication, isNamed: true),
                KeyUsageRule(usages: [.digitalSignature, .keyEncipherment, .keyAgreement]),
            ] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .client(let name):
            [
                ExtendedKeyUsageRule(usage: .clientAuthentication, isNamed: false),
                KeyUsageRule(usages: [.digitalSignature, .keyAgreement]),
            ] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .mail(let address):
            [
                ExtendedKeyUsageRule(usage: .emailProtection, isNamed: false),
                KeyUsageRule(usages: [
                    .digitalSignature, .contentCommitment, .keyEncipherment, .dataEncipherment, .keyAgreement,
                ]),
            ] + (address.map { [EmailAddressRule(address: $0)] } ?? [])
        case .codeSigning:
            [
                ExtendedKeyUsageRule(usage: .codeSigning, isNamed: true),
                KeyUsageRule(usages: [.digitalSignature, .contentCommitment]),
            ]
        case .timeStamping:
            [
                ExtendedKeyUsageRule(usage: .timeStamping, isNamed: true), TimeStampingRule(),
                KeyUsageRule(usages: [.digitalSignature, .contentCommitment]),
            ]
        case .eapServer(let names): Self.eapRules(.serverAuthentication, names)
        case .eapClient(let names): Self.eapRules(.clientAuthentication, names)
        // As Apple's policy, this requires no extended key usage, because many certificates of
        // gateways have none.
        case .ipsec(_, let name): [EndEntityRule()] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .macAppStoreReceipt, .appleID, .pass: appleProfile?.rules ?? []
        case .keyUsages(let usages, let policy):
            policy.rules.filter { !($0 is KeyUsageRule) } + [NamedKeyUsageRule(usages: usages)]
        }
    }

    private static func eapRules(_ usage: ObjectIdentifier, _ names: [TrustedServerName]?) -> [any ChainRule] {
        [EndEntityRule(), ExtendedKeyUsageRule(usage: usage, isNamed: false)]
            + (names.map { [TrustedServerNameRule(names: $0)] } ?? [])
    }

    private var appleProfile: AppleProfile? {
        switch self {
        case .macAppStoreReceipt: .macAppStoreReceipt
        case .appleID: .appleID
        case .pass(let type, let team): .pass(type: type, team: team)
        default: nil
        }
    }

    /// How revocation is checked; nil if the policy does not check it.
    var revocationOptions: RevocationOptions? {
        switch self {
        case .revocation(let options): options
        // As Apple's policy does, with both kinds of evidence.
        case .macAppStoreReceipt: [.ocsp, .lists]
        case .keyUsages(_, let policy): policy.revocationOptions
        default: nil
        }
    }
}

// MARK: Leaves

extension TrustPolicy {
    /// Why a certificate cannot be a leaf for this policy, independent of its issuer; nil if it
    /// can.
    ///
    /// - Parameter validationTime: seconds since 1970.
    public func failure(ofLeaf certificate: Certificate, at validationTime: Double) -> TrustFailure? {
        var budget = WorkBudget()
        let alone = Chain(certificates: [certificate])
        // The rest of the chain is not known.
        for rule in [WellFormedRule(), ValidityRule(validationTime: validationTime)] + rules
        where !(rule is AppleChainRule) {
            do throws(TrustFailure) { try rule.check(alone, &budget) } catch { return error }
        }
        return nil
    }
}

// MARK: CustomStringConvertible

extension TrustPolicy: CustomStringConvertible {
    public var description: String {
        switch self {
        case .basicX509: "any certificate"
        case .server(let name): name.map { "the TLS server \($0)" } ?? "any TLS server"
        case .client(let name): name.map { "the TLS client \($0)" } ?? "any TLS client"
        case .mail(let address): address.map { "the email address \($0)" } ?? "any email address"
        case .codeSigning: "code signing"
        case .timeStamping: "time stamping"
        case .eapServer(let names): names.map { "the EAP server \(Self.list($0))" } ?? "any EAP server"
        case .eapClient(let names): names.map { "the EAP client \(Self.list($0))" } ?? "any EAP client"
        case .ipsec(let isServer, let name):
            "the IPsec \(isServer ? "server" : "client") \(name?.description ?? "with any name")"
        case .macAppStoreReceipt: "receipts of the Mac App Store"
        case .appleID: "Apple IDs"
        case .pass(let type, let team): "passes \(type ?? "of any type") of the team \(team)"
        case .keyUsages(let usages, let policy): "\(policy), with the key usages \(usages)"
        case .revocation: "revocation"
        }
    }

    private static func list(_ names: [TrustedServerName]) -> String {
        names.prefix(5).map(\.text).joined(separator: " or ")
    }
}
